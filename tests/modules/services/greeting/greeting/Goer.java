package greeting;

public interface Goer {
    void go();
}
