/** What fixtures call and what runs them, from the fixtures without modules. */
module support {
    exports support;
}
