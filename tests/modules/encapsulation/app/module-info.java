module app {
    requires closed;
    requires opened;
    requires support;
    exports app;
}
