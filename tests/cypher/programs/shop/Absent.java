package shop;

/** The test deletes its class file: nothing defines it then. */
class Absent {
    static void call() {}
}
