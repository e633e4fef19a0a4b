module provider {
    requires greeting;
    requires support;
    provides greeting.Goer with provider.Constructed, provider.Factory;
    provides provider.Unused with provider.Idle;
}
