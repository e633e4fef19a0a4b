module app {
    requires greeting;
    requires support;
    exports app;
    uses greeting.Goer;
}
