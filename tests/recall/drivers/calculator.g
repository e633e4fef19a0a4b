// A calculator: a parser that builds trees, a walker that evaluates them, and a lexer.
class CalculatorParser extends Parser;
options { buildAST = true; k = 2; exportVocab = Calculator; }

program : ( statement )+ EOF! ;
statement : ( ID ASSIGN ) => ID ASSIGN^ sum SEMI! | sum SEMI! ;
sum : product ( ( PLUS^ | MINUS^ ) product )* ;
product : atom ( STAR^ atom )* ;
atom : NUMBER | ID | LEFT! sum RIGHT! ;

class CalculatorWalker extends TreeParser;
options { importVocab = Calculator; }

value returns [int result = 0] { int left, right; }
    : #( PLUS left = value right = value ) { result = left + right; }
    | #( STAR left = value right = value ) { result = left * right; }
    | number:NUMBER { result = Integer.parseInt(number.getText()); }
    ;

class CalculatorLexer extends Lexer;
options { k = 2; exportVocab = Calculator; }

PLUS : '+' ;
MINUS : '-' ;
STAR : '*' ;
ASSIGN : '=' ;
SEMI : ';' ;
LEFT : '(' ;
RIGHT : ')' ;
NUMBER : ( '0'..'9' )+ ;
ID : ( 'a'..'z' | 'A'..'Z' ) ( 'a'..'z' | 'A'..'Z' | '0'..'9' )* ;
COMMENT : "//" ( ~'\n' )* { $setType(Token.SKIP); } ;
SPACE : ( ' ' | '\t' | '\r' | '\n' { newline(); } ) { $setType(Token.SKIP); } ;
