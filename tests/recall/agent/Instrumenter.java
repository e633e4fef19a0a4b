package heliograph.recorder;

import heliograph.recorder.Names.Kind;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodTooLargeException;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.FieldInsnNode;
import org.objectweb.asm.tree.FieldNode;
import org.objectweb.asm.tree.FrameNode;
import org.objectweb.asm.tree.InsnList;
import org.objectweb.asm.tree.InsnNode;
import org.objectweb.asm.tree.IntInsnNode;
import org.objectweb.asm.tree.InvokeDynamicInsnNode;
import org.objectweb.asm.tree.LabelNode;
import org.objectweb.asm.tree.LdcInsnNode;
import org.objectweb.asm.tree.LineNumberNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.TypeInsnNode;
import org.objectweb.asm.tree.VarInsnNode;

/** Makes the methods of a class tell {@code State} when they begin, stand at a call, and return. */
final class Instrumenter {
    private static final String STATE = "heliograph/recall/State";
    private static final String OBJECT = "java/lang/Object";
    /** How much more the operand stack may hold: a copy of a result, the state and two numbers. */
    private static final int DEEPER = 4;

    private final Names names;

    Instrumenter(Names names) {
        this.names = names;
    }

    /** Returns the class file instrumented, without those of its methods that would get too large. */
    byte[] instrument(byte[] content, List<String> left) {
        Set<String> tooLarge = new HashSet<>();
        while (true) {
            ClassReader reader = new ClassReader(content);
            ClassNode node = new ClassNode();
            reader.accept(node, ClassReader.EXPAND_FRAMES);
            names.add(node);
            for (MethodNode each : node.methods) {
                boolean empty = each.instructions.size() == 0 || node.name.equals(OBJECT) && each.name.equals("<init>");
                if (!empty && !tooLarge.contains(each.name + each.desc)) new Body(node, each).instrument();
            }
            ClassWriter writer = new ClassWriter(0);
            node.accept(writer);
            try {
                return writer.toByteArray();
            } catch (MethodTooLargeException large) {
                tooLarge.add(large.getMethodName() + large.getDescriptor());
                left.add(node.name.replace('/', '.') + "." + large.getMethodName() + large.getDescriptor());
            }
        }
    }

    /** A method that is being instrumented, with two local variables more: the state and the depth. */
    private final class Body {
        private final ClassNode owner;
        private final MethodNode method;
        private final InsnList code;
        private final int number;
        private final int state, depth;
        private final Set<String> ownFields = new HashSet<>();
        private final Map<LabelNode, LabelNode> moved = new HashMap<>();
        private int line = -1;

        Body(ClassNode owner, MethodNode method) {
            this.owner = owner;
            this.method = method;
            code = method.instructions;
            number = names.method(new Names.Method(owner.name, method.name, method.desc));
            state = method.maxLocals;
            depth = state + 1;
            for (FieldNode each : owner.fields) ownFields.add(each.name);
        }

        void instrument() {
            for (AbstractInsnNode each : code.toArray()) visit(each);
            for (AbstractInsnNode each : code.toArray()) if (each instanceof FrameNode) extend((FrameNode) each);
            code.insert(prologue());
            method.maxLocals += 2;
            method.maxStack += DEEPER;
        }

        private void visit(AbstractInsnNode each) {
            if (each instanceof LineNumberNode) {
                line = ((LineNumberNode) each).line;
            } else if (each instanceof MethodInsnNode) {
                MethodInsnNode call = (MethodInsnNode) each;
                int site = site(kind(call), call.owner, call.name, call.desc);
                code.insertBefore(each, mark(site));
                int api = Api.returning(call.owner, call.name, call.desc);
                if (api >= 0 && site > 0) code.insert(each, returned(site, api));
            } else if (each instanceof InvokeDynamicInsnNode) {
                InvokeDynamicInsnNode call = (InvokeDynamicInsnNode) each;
                code.insertBefore(each, mark(site(Kind.DYNAMIC, call.bsm.getOwner(), call.name, call.desc)));
            } else if (each.getOpcode() == Opcodes.NEW) {
                String type = ((TypeInsnNode) each).desc;
                if (type.equals(owner.name)) return;
                move(each);
                code.insertBefore(each.getPrevious(), mark(site(Kind.TRIGGER, type, "", "")));
            } else if (each.getOpcode() == Opcodes.GETSTATIC || each.getOpcode() == Opcodes.PUTSTATIC) {
                FieldInsnNode access = (FieldInsnNode) each;
                if (access.owner.equals(owner.name) && ownFields.contains(access.name)) return;
                code.insertBefore(each, mark(site(Kind.TRIGGER, access.owner, "", "")));
            } else if (each.getOpcode() >= Opcodes.IRETURN && each.getOpcode() <= Opcodes.RETURN) {
                code.insertBefore(each, leave());
            }
        }

        private Kind kind(MethodInsnNode call) {
            boolean handle = call.owner.equals("java/lang/invoke/MethodHandle");
            if (handle && (call.name.startsWith("invoke") || call.name.startsWith("linkTo"))
                    || call.owner.equals("java/lang/invoke/VarHandle")) return Kind.HANDLE;
            switch (call.getOpcode()) {
                case Opcodes.INVOKESTATIC: return Kind.STATIC;
                case Opcodes.INVOKESPECIAL: return Kind.SPECIAL;
                case Opcodes.INVOKEINTERFACE: return Kind.INTERFACE;
                default: return Kind.VIRTUAL;
            }
        }

        private int site(Kind kind, String type, String name, String descriptor) {
            return names.site(new Names.Site(number, line, kind, new Names.Method(type, name, descriptor)));
        }

        private InsnList prologue() {
            InsnList list = new InsnList();
            list.add(push(number));
            list.add(call(Opcodes.INVOKESTATIC, "enter", "(I)L" + STATE + ";"));
            list.add(new InsnNode(Opcodes.DUP));
            list.add(new VarInsnNode(Opcodes.ASTORE, state));
            list.add(new FieldInsnNode(Opcodes.GETFIELD, STATE, "depth", "I"));
            list.add(new VarInsnNode(Opcodes.ISTORE, depth));
            int api = Api.entering(owner.name, method.name);
            if (api >= 0) {
                list.add(new VarInsnNode(Opcodes.ALOAD, state));
                list.add(new VarInsnNode(Opcodes.ILOAD, depth));
                list.add(push(api));
                list.add(new VarInsnNode(Opcodes.ALOAD, 0));
                list.add(call(Opcodes.INVOKEVIRTUAL, "entered", "(IILjava/lang/Object;)V"));
            }
            if (owner.name.equals("java/lang/Shutdown") && method.name.equals("halt")) list.add(finish());
            return list;
        }

        private InsnList mark(int site) {
            InsnList list = new InsnList();
            list.add(new VarInsnNode(Opcodes.ALOAD, state));
            list.add(new VarInsnNode(Opcodes.ILOAD, depth));
            list.add(push(site));
            list.add(call(Opcodes.INVOKEVIRTUAL, "at", "(II)V"));
            return list;
        }

        private InsnList returned(int site, int api) {
            InsnList list = new InsnList();
            list.add(new InsnNode(Opcodes.DUP));
            list.add(new VarInsnNode(Opcodes.ALOAD, state));
            list.add(new InsnNode(Opcodes.SWAP));
            list.add(push(site));
            list.add(push(api));
            list.add(call(Opcodes.INVOKEVIRTUAL, "returned", "(Ljava/lang/Object;II)V"));
            return list;
        }

        private InsnList leave() {
            InsnList list = new InsnList();
            list.add(new VarInsnNode(Opcodes.ALOAD, state));
            list.add(new VarInsnNode(Opcodes.ILOAD, depth));
            list.add(call(Opcodes.INVOKEVIRTUAL, "leave", "(I)V"));
            if (owner.name.equals("java/lang/Shutdown") && method.name.equals("shutdown")) list.add(finish());
            return list;
        }

        private AbstractInsnNode finish() {
            return call(Opcodes.INVOKESTATIC, "finish", "()V");
        }

        private MethodInsnNode call(int opcode, String name, String descriptor) {
            return new MethodInsnNode(opcode, STATE, name, descriptor, false);
        }

        private AbstractInsnNode push(int number) {
            if (number <= Short.MAX_VALUE) return new IntInsnNode(Opcodes.SIPUSH, number);
            return new LdcInsnNode(number);
        }

        /**
         * Frames name an object that is no object yet by the label of its `new`: that label goes behind what
         * is put in front of the instruction.
         */
        private void move(AbstractInsnNode made) {
            LabelNode fresh = new LabelNode();
            for (AbstractInsnNode before = made.getPrevious(); before != null && before.getOpcode() < 0; ) {
                if (before instanceof LabelNode) moved.put((LabelNode) before, fresh);
                before = before.getPrevious();
            }
            code.insertBefore(made, fresh);
        }

        /** Adds the two variables to a frame, and lets it name the labels that were moved. */
        private void extend(FrameNode frame) {
            List<Object> locals = new ArrayList<>();
            int slots = 0;
            for (Object each : frame.local) {
                locals.add(label(each));
                slots += each == Opcodes.LONG || each == Opcodes.DOUBLE ? 2 : 1;
            }
            for (; slots < state; slots++) locals.add(Opcodes.TOP);
            locals.add(STATE);
            locals.add(Opcodes.INTEGER);
            frame.local = locals;
            List<Object> stack = new ArrayList<>();
            for (Object each : frame.stack) stack.add(label(each));
            frame.stack = stack;
        }

        private Object label(Object type) {
            return type instanceof LabelNode ? moved.getOrDefault(type, (LabelNode) type) : type;
        }
    }
}
