package provider;

public interface Unused {}
