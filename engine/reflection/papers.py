"""The papers that rules cite."""

LIVSHITS = "Livshits, Whaley, Lam. Reflection Analysis for Java. APLAS 2005"
SOLAR = "Li, Tan, Xue. Effective Soundness-Guided Reflection Analysis. SAS 2015"
JAVA = "Java SE API specification"
