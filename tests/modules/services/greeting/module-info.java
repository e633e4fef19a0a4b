module greeting {
    exports greeting;
}
