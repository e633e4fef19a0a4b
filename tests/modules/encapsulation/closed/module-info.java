module closed {
    requires support;
    exports closed.shown;
}
