import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.BufferedInputStream;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.TreeSet;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.LabelNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.TryCatchBlockNode;
import org.objectweb.asm.tree.analysis.Analyzer;
import org.objectweb.asm.tree.analysis.BasicInterpreter;
import org.objectweb.asm.tree.analysis.BasicValue;
import org.objectweb.asm.tree.analysis.Frame;
import org.objectweb.asm.tree.analysis.SourceInterpreter;
import org.objectweb.asm.tree.analysis.SourceValue;

/**
 * Says, for each instruction and each place of the operand stack that holds a reference, which instructions,
 * parameters and handlers the reference may come from. Arguments: classes (each after its length), answers,
 * and methods whose answer is wanted in full instead of as a digest.
 */
public final class StackOracle {
    /** The analysis of ASM takes time and memory that grow with the square of this. */
    private static final int LONGEST = 6_000;
    private static final int HANDLER = 1_000_000;

    public static void main(String[] arguments) throws Exception {
        TreeSet<String> wanted = new TreeSet<>();
        for (int each = 2; each < arguments.length; each++) wanted.add(arguments[each]);
        try (DataInputStream classes = new DataInputStream(new BufferedInputStream(new FileInputStream(arguments[0])));
                PrintStream answers = new PrintStream(
                        new BufferedOutputStream(new FileOutputStream(arguments[1])), false, "UTF-8")) {
            for (int left = classes.readInt(); left > 0; left--) {
                byte[] content = new byte[classes.readInt()];
                classes.readFully(content);
                ClassNode node = new ClassNode();
                new ClassReader(content).accept(node, ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
                for (MethodNode method : node.methods) {
                    String key = node.name + "." + method.name + method.desc;
                    if (method.instructions.size() == 0 || !wanted.isEmpty() && !wanted.contains(key)) continue;
                    answers.print(key + "\t" + answer(node.name, method, !wanted.isEmpty()) + "\n");
                }
            }
        }
    }

    private static String answer(String owner, MethodNode method, boolean full) throws Exception {
        if (method.instructions.size() > LONGEST) return "LONG";
        String origins;
        try {
            origins = origins(owner, method);
        } catch (Exception problem) {
            return "ERROR " + problem;
        }
        if (full) return origins;
        byte[] digest = MessageDigest.getInstance("MD5").digest(origins.getBytes(StandardCharsets.UTF_8));
        StringBuilder hexadecimal = new StringBuilder();
        for (int each = 0; each < 8; each++) hexadecimal.append(String.format("%02x", digest[each]));
        return hexadecimal.toString();
    }

    private static String origins(String owner, MethodNode method) throws Exception {
        AbstractInsnNode[] nodes = method.instructions.toArray();
        Map<AbstractInsnNode, Integer> ordinals = new IdentityHashMap<>();
        int ordinal = 0;
        for (AbstractInsnNode node : nodes) {
            ordinals.put(node, ordinal);
            if (node.getOpcode() >= 0) ordinal++;
        }
        Frame<SourceValue>[] sources = new Analyzer<>(new Sources(ordinals)).analyze(owner, method);
        Frame<BasicValue>[] kinds = new Analyzer<>(new BasicInterpreter()).analyze(owner, method);
        StringBuilder text = new StringBuilder();
        for (int each = 0; each < nodes.length; each++) {
            if (nodes[each].getOpcode() < 0 || sources[each] == null) continue;
            text.append(ordinals.get(nodes[each])).append(':');
            int place = 0;
            for (int slot = 0; slot < sources[each].getStackSize(); slot++) {
                BasicValue kind = kinds[each].getStack(slot);
                if (kind.isReference()) append(text, place, sources[each].getStack(slot), ordinals);
                place += kind.getSize();
            }
            text.append(' ');
        }
        return text.toString();
    }

    private static void append(
            StringBuilder text, int place, SourceValue value, Map<AbstractInsnNode, Integer> ordinals) {
        TreeSet<Integer> found = new TreeSet<>();
        for (AbstractInsnNode node : value.insns) {
            found.add(node instanceof Origin ? ((Origin) node).number : ordinals.get(node));
        }
        if (found.isEmpty()) return;
        text.append(place).append('=');
        for (int each : found) text.append(each).append(',');
        text.append(';');
    }

    /** A parameter (-1 - slot) or a handler (HANDLER + its first instruction), which no instruction makes. */
    private static final class Origin extends AbstractInsnNode {
        final int number;

        Origin(int number) {
            super(-1);
            this.number = number;
        }

        @Override
        public int getType() {
            return -1;
        }

        @Override
        public void accept(MethodVisitor visitor) {}

        @Override
        public AbstractInsnNode clone(Map<LabelNode, LabelNode> labels) {
            return this;
        }
    }

    /** Moves keep their sources; null has none. */
    private static final class Sources extends SourceInterpreter {
        private final Map<AbstractInsnNode, Integer> ordinals;
        private final Map<Integer, Origin> origins = new HashMap<>();

        Sources(Map<AbstractInsnNode, Integer> ordinals) {
            super(Opcodes.ASM9);
            this.ordinals = ordinals;
        }

        private Origin origin(int number) {
            return origins.computeIfAbsent(number, Origin::new);
        }

        @Override
        public SourceValue copyOperation(AbstractInsnNode instruction, SourceValue value) {
            return value;
        }

        @Override
        public SourceValue newParameterValue(boolean instance, int local, Type type) {
            return new SourceValue(type.getSize(), origin(-1 - local));
        }

        @Override
        public SourceValue newExceptionValue(TryCatchBlockNode block, Frame<SourceValue> frame, Type exception) {
            return new SourceValue(1, origin(HANDLER + ordinals.get(block.handler)));
        }

        @Override
        public SourceValue newOperation(AbstractInsnNode instruction) {
            return instruction.getOpcode() == Opcodes.ACONST_NULL ? new SourceValue(1) : super.newOperation(instruction);
        }

        @Override
        public SourceValue unaryOperation(AbstractInsnNode instruction, SourceValue value) {
            boolean passes = instruction.getOpcode() == Opcodes.CHECKCAST && value.insns.isEmpty();
            return passes ? value : super.unaryOperation(instruction, value);
        }
    }
}
