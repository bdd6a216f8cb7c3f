(* A table from the bytes that draws read: dg_table (table.h) and what it points to, as they lie in memory, little-endian,
   a pointer having 64 bits. tools/coq.py copies them out of a process that built the table. *)
From Coq Require Import ZArith List Bool Strings.Byte.
From DG.cells Require Import table rows checker.
Import ListNotations.
Open Scope Z_scope.

(* bytes as lines of text: two hexadecimal digits each *)
Inductive text := Text (l : list byte).
Definition text_of (l : list byte) : text := Text l.
Definition of_text (t : text) : list byte := let '(Text l) := t in l.
Declare Scope text_scope.
Delimit Scope text_scope with text.
String Notation text text_of of_text : text_scope.

Definition digit (c : byte) : Z :=
  let n := Z.of_N (to_N c) in if n <? 58 then n - 48 else n - 87. (* 0-9, a-f *)
Fixpoint pairs (l : list byte) : list Z :=
  match l with a :: b :: l => 16 * digit a + digit b :: pairs l | _ => [] end.
Definition bytes_of (l : list text) : list Z := flat_map (fun line => pairs (of_text line)) l.

(* the unsigned and the signed number that n bytes are *)
Fixpoint unsigned (n : nat) (l : list Z) : Z :=
  match n, l with S n, b :: l => b + 256 * unsigned n l | _, _ => 0 end.
Definition signed (n : nat) (l : list Z) : Z :=
  let v := unsigned n l in let m := 2 ^ (8 * Z.of_nat n) in if v <? m / 2 then v else v - m.

(* an array: its items' bytes *)
Fixpoint items (size : nat) (n : nat) (l : list Z) : list (list Z) :=
  match n with O => [] | S n => firstn size l :: items size n (skipn size l) end.

Record memory := {
  in_table : list text;    (* from block_bits to tail_arc_bits *)
  in_rows : list text;     (* table->rows *)
  in_block_of : list text; (* block_of[n_coded], ... *)
  in_partial : list text; in_tail_arcs : list text }.

Record arc := { base : Z; slope : Z; error : Z; bulge : Z }.

Section Read.
  Variable m : memory.
  Let head := bytes_of (in_table m).
  Let at_ (offset size : nat) : Z := unsigned size (skipn offset head).
  Definition m_block_bits := at_ 0 8.
  Definition m_rest_bytes := at_ 8 8.
  Definition m_index_bits := at_ 16 4.
  Definition m_tick_bits := at_ 20 4.
  Definition m_tail_bits := at_ 24 4.
  Definition m_height := at_ 28 4.
  Definition m_first_block := signed 4 (skipn 32 head).
  Definition m_last_block := signed 4 (skipn 36 head).
  Definition m_coded_first := signed 4 (skipn 40 head).
  Definition m_n_coded := at_ 48 4.
  Definition m_n_full := at_ 52 4.
  Definition m_n_partial := at_ 56 4.
  Definition m_n_tail_side := at_ 60 4.
  Definition m_tail_arc_bits := at_ 64 4.

  Let row_bytes := bytes_of (in_rows m).
  Definition m_row_bits := unsigned 4 row_bytes.
  Definition m_position_bits := unsigned 4 (skipn 4 row_bytes).
  Definition m_n_mixed := unsigned 4 (skipn 8 row_bytes).
  Let column (i : nat) : list Z := firstn 256 (skipn (12 + 256 * i) row_bytes).
  Definition m_specials : list Z := map (unsigned 2) (items 2 256 (skipn (12 + 256 * 6) row_bytes)).
  Fixpoint zip_rows (a b c d e f g : list Z) : list row :=
    match a, b, c, d, e, f, g with
    | a0 :: a, b0 :: b, c0 :: c, d0 :: d, e0 :: e, f0 :: f, g0 :: g => Build_row a0 b0 c0 d0 e0 f0 g0 :: zip_rows a b c d e f g
    | _, _, _, _, _, _, _ => []
    end.
  Definition m_rows : list row :=
    firstn (Z.to_nat (2 ^ m_row_bits)) (zip_rows (column 0) (column 1) (column 2) (column 3) (column 4) (column 5) m_specials).

  Definition m_uncoded : list Z := map (signed 2) (items 2 (Z.to_nat (m_n_full - m_n_coded)) (bytes_of (in_block_of m))).
  Definition arc_of (l : list Z) : arc :=
    {| base := signed 4 l; slope := unsigned 4 (skipn 4 l); error := unsigned 2 (skipn 8 l); bulge := signed 2 (skipn 10 l) |}.
  Definition m_partial : list (Z * Z * arc) :=
    map (fun l => (signed 2 l, unsigned 2 (skipn 2 l), arc_of (skipn 4 l))) (items 16 (Z.to_nat m_n_partial) (bytes_of (in_partial m))).
  Definition m_tail_arcs : list arc :=
    map arc_of (items 12 (Z.to_nat (2 * 16 * 2 ^ m_tail_arc_bits)) (bytes_of (in_tail_arcs m))).
  Definition m_rejects : Z := 2 ^ m_index_bits - m_n_full - m_n_partial - 2 * m_n_tail_side.

  Definition table_of : table :=
    {| places := {| row_bits := Z.to_nat m_row_bits; position_bits := Z.to_nat m_position_bits; tail_bits := Z.to_nat m_tail_bits;
                    first_block := m_first_block; count := Z.to_nat (m_last_block + 1 - m_first_block);
                    coded_first := m_coded_first; rows := m_rows; uncoded := m_uncoded; partials := map fst m_partial;
                    rejects := Z.to_nat m_rejects |};
       height := m_height; tick_bits := Z.to_nat m_tick_bits; rest_bits := Z.to_nat (8 * m_rest_bytes) |}.

  (* What the model takes for granted, and the code, too: a side's cells are 2 2^tail_bits, tick and rest are all low bits, a row
     is mixed where its number says so, and codes belong to blocks. *)
  Definition row_agrees (n_mixed : Z) (x : Z * row) : bool :=
    let '(i, r) := x in
    let mixed := i <? n_mixed in
    Bool.eqb mixed (whole r =? 255) && Bool.eqb mixed (negb (end0 r =? 0)) &&
    (mixed || ((end1 r =? 0) && (code2 r =? whole r))).
  Definition memory_ok : bool :=
    (m_index_bits =? m_row_bits + m_position_bits) && (m_block_bits =? m_tick_bits + 8 * m_rest_bytes) && (m_tick_bits <=? 48)
    && (m_n_tail_side =? 2 * 2 ^ m_tail_bits) && (0 <=? m_rejects) && (m_n_coded <=? m_n_full)
    && forallb (row_agrees m_n_mixed) (combine (map Z.of_nat (seq 0 256)) m_rows).
End Read.
