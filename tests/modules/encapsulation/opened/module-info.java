module opened {
    requires support;
    opens opened;
}
