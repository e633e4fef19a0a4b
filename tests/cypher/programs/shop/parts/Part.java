package shop.parts;

public interface Part {
    void fit();
}
