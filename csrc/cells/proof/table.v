(* The table theorem (PROOF.md, lemmas 2, 6, 7 and 8): facts 1, 2, 4 and 5, as hypotheses F12, F4 and F5, and comparisons
   that are true with the right probability (compare.v; fact 3 is what the arcs owe them) imply that attempts,
   repeated until one succeeds, return every integer y with probability g(y) / sum g, and end almost surely.
   Tails included: nothing is cut off. That sum g converges is proven, too.

   First for an attempt that draws a cell and all low bits of y at once (`attempt`); then for one that reads as
   draw.c does: a row, a tick, a position if the row is mixed, a height if the cell is special, a rest (`attempt_read`). *)
From Coq Require Import Reals Lra Lia ZArith List Bool Arith.
From Coquelicot Require Import Coquelicot.
From DG.exact Require Import programs laws.
From DG.cells Require Import compare.
Import ListNotations.
Open Scope R_scope.

Inductive cell := Full (j : Z) | Partial (j : Z) (m : nat) | Tail (side : bool) (p : Z) | Reject.

Lemma total_flat_map {A B} (f : B -> R) (h : A -> list B) l :
  total f (flat_map h l) = total (fun a => total f (h a)) l.
Proof. induction l; simpl; [reflexivity|]. now rewrite total_app, IHl. Qed.
Lemma total_repeat {A} (f : A -> R) a n : total f (repeat a n) = INR n * f a.
Proof. induction n; [simpl; lra|]. cbn [repeat total]. rewrite IHn, S_INR. lra. Qed.
Section Table.
  Variables (b wb tb : nat) (first : Z) (count : nat) (n full : Z -> nat) (rejects : nat).
  Variables (cells : tree cell) (H : R) (g : Z -> R).
  (* cmp i y m compares f' with 2^i H g(y) - m *)
  Variable cmp : nat -> Z -> nat -> tree bool.

  Definition w : Z := (2 ^ Z.of_nat wb)%Z.                   (* computed in binary: blocks may be huge *)
  Lemma w_nat : w = Z.of_nat (2 ^ wb).
  Proof. unfold w. rewrite Nat2Z.inj_pow. reflexivity. Qed.
  Definition W : Z := (w * Z.of_nat (2 ^ tb))%Z.
  Definition last1 : Z := (first + Z.of_nat count)%Z.       (* last_block + 1 *)
  (* the integer at position p w + l of tail block i, outwards *)
  Definition tail_y (side : bool) (i : nat) (p l : Z) : Z :=
    let o := (Z.of_nat i * W + (p * w + l))%Z in
    if side then (last1 * w + o)%Z else (first * w - 1 - o)%Z.

  Definition decide i y m : tree (option Z) := bind (cmp i y m) (fun ok : bool => Ret (if ok then Some y else None)).
  Definition inner (c : cell) (l : Z) : tree (option Z) :=
    match c with
    | Full j => Ret (Some (j * w + l)%Z)
    | Partial j m => decide 0 (j * w + l)%Z m
    | Tail side p => bind (level_from 0) (fun i => decide i (tail_y side i p l) 0)
    | Reject => Ret None
    end.
  Definition attempt : tree (option Z) :=
    bind cells (fun c => bind (number wb) (fun l => inner c l)).
  Definition draw : tree Z := again attempt.

  Definition core_cells j := repeat (Full j) (full j) ++ map (Partial j) (seq (full j) (n j - full j)).
  Definition tail_cells side := flat_map (fun p => [Tail side p; Tail side p]) (zs (2 ^ tb)).
  Definition all_cells :=
    flat_map (fun k => core_cells (first + k)%Z) (zs count)
    ++ tail_cells true ++ tail_cells false ++ repeat Reject rejects.

  Hypothesis H_pos : 0 < H.
  Hypothesis g_pos : forall y, 0 < g y.
  Hypothesis F12 : forall y, (first * w <= y < last1 * w)%Z -> INR (full (y / w)) <= H * g y <= INR (n (y / w)).
  Hypothesis F4 : forall side i p l, (0 <= p < Z.of_nat (2 ^ tb))%Z -> (0 <= l < w)%Z ->
    2 ^ i * (H * g (tail_y side i p l)) <= 1.
  Hypothesis F5 : forall f, unit_f f -> E cells f = / 2 ^ b * total f all_cells.
  Hypothesis cells_end : E cells (fun _ => 1) = 1.
  Hypothesis cmp_yes : forall i y m, E (cmp i y m) yes = clamp (2 ^ i * (H * g y) - INR m).
  Hypothesis cmp_ends : forall i y m, E (cmp i y m) (fun _ => 1) = 1.

  Lemma w_pos : (0 < w)%Z.
  Proof. unfold w. apply Z.pow_pos_nonneg; lia. Qed.
  Lemma W_pos : (0 < W)%Z.
  Proof. unfold W. pose proof w_pos. pose proof (Nat.pow_nonzero 2 tb). nia. Qed.
  Lemma Hg_pos y : 0 < H * g y. Proof. apply Rmult_lt_0_compat; auto. Qed.

  Lemma decide_law i z m y : E (decide i z m) (is_y y) = if Z.eqb y z then clamp (2 ^ i * (H * g y) - INR m) else 0.
  Proof.
    unfold decide. rewrite E_bind by apply unit_is_y.
    rewrite (E_ext _ _ (fun ok => at_z y z * yes ok)).
    - rewrite E_scal by apply unit_yes. rewrite cmp_yes. unfold at_z. destruct (Z.eqb_spec y z); [subst|]; lra.
    - intros [|]; rewrite E_Ret; simpl; lra.
  Qed.
  Lemma decide_ends i z m : E (decide i z m) (fun _ => 1) = 1.
  Proof.
    unfold decide. rewrite E_bind by apply unit_one. rewrite (E_ext _ _ (fun _ => 1)); [apply cmp_ends|].
    intros; now rewrite E_Ret.
  Qed.

  Lemma inner_ends c l : E (inner c l) (fun _ => 1) = 1.
  Proof.
    destruct c; simpl; try (now rewrite E_Ret); [apply decide_ends|].
    rewrite E_bind by apply unit_one. rewrite (E_ext _ _ (fun _ => 1)); [apply level_ends|].
    intros; apply decide_ends.
  Qed.

  Lemma attempt_ends : E attempt (fun _ => 1) = 1.
  Proof. repeat (apply bind_ends; [apply cells_end || apply number_ends|intros]). apply inner_ends. Qed.

  (* what a cell gives to y, times 2^b w *)
  Definition share y c := total (fun l => E (inner c l) (is_y y)) (zs (2 ^ wb)).

  Lemma core_pick y j q : total (fun l => if Z.eqb y (j * w + l) then q else 0) (zs (2 ^ wb)) =
    if Z.eqb (y / w) j then q else 0.
  Proof.
    rewrite pick, <- w_nat. pose proof w_pos. pose proof (Z.div_mod y w ltac:(lia)). pose proof (Z.mod_pos_bound y w ltac:(lia)).
    destruct (Z.eqb_spec (y / w) j), (Z.leb_spec (j * w) y), (Z.ltb_spec y (j * w + w)); simpl; (reflexivity || nia).
  Qed.

  Lemma share_full y j : share y (Full j) = if Z.eqb (y / w) j then 1 else 0.
  Proof.
    unfold share. rewrite <- (core_pick y j 1). apply total_ext. intros l _. simpl. rewrite E_Ret. reflexivity.
  Qed.
  Lemma share_partial y j m : share y (Partial j m) = if Z.eqb (y / w) j then clamp (H * g y - INR m) else 0.
  Proof.
    unfold share. rewrite <- (core_pick y j). apply total_ext. intros l _. simpl. rewrite decide_law. simpl.
    now rewrite Rmult_1_l.
  Qed.

  Lemma partials x f k : INR f <= x -> total (fun m => clamp (x - INR m)) (seq f k) = slabs (f + k) x - INR f.
  Proof.
    intros Hx. induction k as [|k IH].
    - rewrite Nat.add_0_r, slabs_is by (pose proof (pos_INR f); lra). simpl. rewrite Rmin_right; lra.
    - rewrite seq_S, total_app, IH, <- plus_n_Sm. cbn [total slabs]. lra.
  Qed.

  Lemma share_core y j : (first * w <= y < last1 * w)%Z ->
    total (share y) (core_cells j) = if Z.eqb (y / w) j then H * g y else 0.
  Proof.
    intros Hy. unfold core_cells. rewrite total_app, total_repeat, total_map, share_full.
    destruct (Z.eqb_spec (y / w) j) as [<-|Hj].
    - pose proof (F12 y Hy) as [Hf Hn]. assert (full (y / w) <= n (y / w))%nat by (apply INR_le; lra).
      rewrite (total_ext _ (fun m => clamp (H * g y - INR m))).
      + rewrite partials by exact Hf. replace (full (y / w) + _)%nat with (n (y / w)) by lia.
        pose proof (Hg_pos y). rewrite slabs_is by lra. rewrite Rmin_left; lra.
      + intros m _. rewrite share_partial, Z.eqb_refl. reflexivity.
    - rewrite (total_zero (fun m => share y (Partial j m))); [lra|]. intros m _. rewrite share_partial.
      destruct (Z.eqb_spec (y / w) j); [contradiction|reflexivity].
  Qed.

  Lemma share_not_core y j : (first <= j < last1)%Z -> ~ (first * w <= y < last1 * w)%Z ->
    total (share y) (core_cells j) = 0.
  Proof.
    intros Hj Hy. unfold core_cells. rewrite total_app, total_repeat, total_map, share_full.
    destruct (Z.eqb_spec (y / w) j) as [<-|Hn].
    - exfalso. apply Hy. pose proof w_pos. pose proof (Z.div_mod y w ltac:(lia)).
      pose proof (Z.mod_pos_bound y w ltac:(lia)). nia.
    - rewrite (total_zero (fun m => share y (Partial j m))); [lra|]. intros m _. rewrite share_partial.
      destruct (Z.eqb_spec (y / w) j); [contradiction|reflexivity].
  Qed.

  Lemma cores y : total (share y) (flat_map (fun k => core_cells (first + k)%Z) (zs count)) =
    if (first * w <=? y)%Z && (y <? last1 * w)%Z then H * g y else 0.
  Proof.
    rewrite total_flat_map. pose proof w_pos.
    destruct (Z.leb_spec (first * w) y); [destruct (Z.ltb_spec y (last1 * w))|]; simpl.
    - rewrite (total_ext _ (fun k => if Z.eqb (y / w) (first + k) then H * g y else 0))
        by (intros k _; apply share_core; lia).
      rewrite pick. fold last1. pose proof (Z.div_mod y w ltac:(lia)). pose proof (Z.mod_pos_bound y w ltac:(lia)).
      destruct (Z.leb_spec first (y / w)), (Z.ltb_spec (y / w) last1); simpl; (reflexivity || nia).
    - apply total_zero. intros k Hk. apply zs_in in Hk. apply share_not_core; [unfold last1|]; lia.
    - apply total_zero. intros k Hk. apply zs_in in Hk. apply share_not_core; [unfold last1|]; lia.
  Qed.

  (* lemma 7. o is how far y lies in that tail *)
  Definition outwards (side : bool) y := if side then (y - last1 * w)%Z else (first * w - 1 - y)%Z.

  Lemma tail_y_is side i p l y : tail_y side i p l = y <-> (Z.of_nat i * W + (p * w + l) = outwards side y)%Z.
  Proof. unfold tail_y, outwards. destruct side; lia. Qed.

  Lemma share_tail_in y side p : (0 <= outwards side y)%Z -> (0 <= p < Z.of_nat (2 ^ tb))%Z ->
    share y (Tail side p) =
      if Z.eqb (outwards side y mod W / w) p then / 2 * (H * g y) else 0.
  Proof.
    intros Ho Hp. set (o := outwards side y) in *. pose proof W_pos. pose proof w_pos.
    set (i0 := Z.to_nat (o / W)).
    assert (Hi0 : Z.of_nat i0 = (o / W)%Z) by (unfold i0; rewrite Z2Nat.id; [reflexivity | apply Z.div_pos; lia]).
    pose proof (Z.div_mod o W ltac:(lia)) as Hdm. pose proof (Z.mod_pos_bound o W ltac:(lia)) as Hm.
    set (o' := (o mod W)%Z) in *.
    unfold share.
    rewrite (total_ext _ (fun l => if Z.eqb o' (p * w + l) then / 2 * (H * g y) else 0)).
    { rewrite pick, <- w_nat. pose proof (Z.div_mod o' w ltac:(lia)). pose proof (Z.mod_pos_bound o' w ltac:(lia)).
      destruct (Z.eqb_spec (o' / w) p), (Z.leb_spec (p * w) o'), (Z.ltb_spec o' (p * w + w));
        simpl; (reflexivity || nia). }
    intros l Hl. apply zs_in in Hl. rewrite <- w_nat in Hl. simpl inner. rewrite E_bind by apply unit_is_y.
    assert (Hpl : (0 <= p * w + l < W)%Z) by (unfold W; nia).
    destruct (Z.eqb_spec o' (p * w + l)) as [He|He].
    - assert (Hy : tail_y side i0 p l = y) by (apply tail_y_is; fold o; lia).
      rewrite (E_ext _ _ (fun i => (2 ^ i0 * (H * g y)) * at_nat (0 + i0) i)).
      + rewrite E_scal by apply unit_at. rewrite level_law. rewrite <- tech_pow_Rmult, pow_inv. field.
        apply pow_nonzero. lra.
      + intros i. rewrite decide_law. unfold at_nat. rewrite Nat.add_0_l.
        destruct (Nat.eqb_spec i0 i) as [<-|Hi].
        * rewrite Hy, Z.eqb_refl. simpl INR. pose proof (F4 side i0 p l Hp Hl) as H4. rewrite Hy in H4.
          pose proof (Hg_pos y). pose proof (two_pow i0).
          assert (0 < 2 ^ i0 * (H * g y)) by (apply Rmult_lt_0_compat; lra). clamps.
        * destruct (Z.eqb_spec y (tail_y side i p l)) as [Hz|Hz]; [|lra]. exfalso. apply Hi.
          symmetry in Hz. apply tail_y_is in Hz. fold o in Hz. apply Nat2Z.inj. rewrite Hi0.
          symmetry. apply Z.div_unique with (r := (p * w + l)%Z); lia.
    - rewrite (E_ext _ _ (fun _ => 0)); [apply E_zero|]. intros i. rewrite decide_law.
      destruct (Z.eqb_spec y (tail_y side i p l)) as [Hz|Hz]; [|reflexivity]. exfalso. apply He.
      symmetry in Hz. apply tail_y_is in Hz. fold o in Hz. unfold o'.
      symmetry. apply Z.mod_unique with (q := Z.of_nat i); lia.
  Qed.

  Lemma share_tail_out y side p : (outwards side y < 0)%Z -> (0 <= p < Z.of_nat (2 ^ tb))%Z ->
    share y (Tail side p) = 0.
  Proof.
    intros Ho Hp. pose proof W_pos. pose proof w_pos. unfold share. apply total_zero. intros l Hl. apply zs_in in Hl. rewrite <- w_nat in Hl.
    simpl. rewrite E_bind by apply unit_is_y. rewrite (E_ext _ _ (fun _ => 0)); [apply E_zero|].
    intros i. rewrite decide_law. destruct (Z.eqb_spec y (tail_y side i p l)) as [Hz|Hz]; [|reflexivity].
    symmetry in Hz. apply tail_y_is in Hz. nia.
  Qed.

  Lemma tails y side : total (share y) (tail_cells side) = if (0 <=? outwards side y)%Z then H * g y else 0.
  Proof.
    unfold tail_cells. rewrite total_flat_map. pose proof W_pos. pose proof w_pos.
    destruct (Z.leb_spec 0 (outwards side y)) as [Ho|Ho].
    - rewrite (total_ext _ (fun p => if Z.eqb (outwards side y mod W / w) (0 + p) then H * g y else 0)).
      + rewrite pick. pose proof (Z.mod_pos_bound (outwards side y) W ltac:(lia)) as Hm.
        set (o' := (outwards side y mod W)%Z) in *.
        assert (0 <= o' / w)%Z by (apply Z.div_pos; lia).
        assert (o' / w < Z.of_nat (2 ^ tb))%Z by (apply Z.div_lt_upper_bound; [lia | apply Hm]).
        destruct (Z.leb_spec 0 (o' / w)), (Z.ltb_spec (o' / w) (0 + Z.of_nat (2 ^ tb))); simpl; (reflexivity || lia).
      + intros p Hp. apply zs_in in Hp. cbn [total]. rewrite share_tail_in by assumption. rewrite Z.add_0_l.
        destruct Z.eqb; lra.
    - apply total_zero. intros p Hp. apply zs_in in Hp. cbn [total]. rewrite share_tail_out by assumption. lra.
  Qed.

  (* one attempt returns y with probability H g(y) / (2^b w), for every integer y *)
  Theorem attempt_law y : E attempt (is_y y) = H * g y / (2 ^ b * 2 ^ wb).
  Proof.
    unfold attempt. rewrite E_bind by apply unit_is_y.
    rewrite (E_ext _ _ (fun c => / 2 ^ wb * share y c)).
    2: { intros c. rewrite E_bind by apply unit_is_y. rewrite number_law by apply unit_E, unit_is_y. reflexivity. }
    pose proof (two_pow b) as Hb. pose proof (two_pow wb) as Hw.
    rewrite F5.
    2: { intros c. replace (/ 2 ^ wb * share y c) with (E (number wb) (fun l => E (inner c l) (is_y y))).
         - apply E_unit, unit_E, unit_is_y.
         - rewrite number_law by apply unit_E, unit_is_y. reflexivity. }
    rewrite total_scal.
    unfold all_cells. rewrite !total_app, cores, !tails, total_repeat.
    replace (share y Reject) with 0.
    2: { unfold share. symmetry. apply total_zero. intros l _. simpl. now rewrite E_Ret. }
    assert (Hone : (if (first * w <=? y)%Z && (y <? last1 * w)%Z then H * g y else 0) +
      ((if (0 <=? outwards true y)%Z then H * g y else 0) + ((if (0 <=? outwards false y)%Z then H * g y else 0)
      + INR rejects * 0)) = H * g y).
    { unfold outwards, last1. pose proof w_pos. assert (first * w <= (first + Z.of_nat count) * w)%Z by nia.
      destruct (Z.leb_spec (first * w) y), (Z.ltb_spec y ((first + Z.of_nat count) * w)),
        (Z.leb_spec 0 (y - (first + Z.of_nat count) * w)), (Z.leb_spec 0 (first * w - 1 - y)); simpl; (lia || lra). }
    rewrite Hone. field. lra.
  Qed.

  Theorem table_law : has_law g draw.
  Proof.
    pose proof (two_pow b) as Hb. pose proof (two_pow wb) as Hw.
    apply (again_has_law _ _ (H / (2 ^ b * 2 ^ wb))).
    - apply Rdiv_lt_0_compat; [exact H_pos | now apply Rmult_lt_0_compat].
    - exact g_pos.
    - exact attempt_ends.
    - intros y. rewrite attempt_law. field. lra.
  Qed.
End Table.

(* ---- as draw.c reads ---- *)
Inductive found := Coded (j : Z) | Special (c : cell).
Definition cell_of (r : found) : cell := match r with Coded j => Full j | Special c => c end.

Ltac unit := solve [repeat first [assumption | intros ?; apply E_unit]].

Section Read.
  Variables (row_bits tick_bits rest_bits height_bits tb : nat) (first : Z) (count : nat).
  Variable look : Z -> tree found.                   (* of a row; reads a position if the row is mixed *)
  Variable compare_at : nat -> Z -> nat -> Z -> tree bool. (* level, y, m, F *)

  Let wb := (tick_bits + rest_bits)%nat.
  Definition low_bits (tick rest : Z) : Z := (tick * 2 ^ Z.of_nat rest_bits + rest)%Z.
  Definition inner_at (F : Z) : cell -> Z -> tree (option Z) :=
    inner wb tb first count (fun i y m => compare_at i y m F).
  Definition attempt_read : tree (option Z) :=
    bind (number row_bits) (fun row =>
    bind (number tick_bits) (fun tick =>
    bind (look row) (fun r =>
    match r with
    | Coded j => bind (number rest_bits) (fun rest => Ret (Some (j * w wb + low_bits tick rest)%Z))
    | Special c => bind (number height_bits) (fun F =>
                   bind (number rest_bits) (fun rest => inner_at F c (low_bits tick rest)))
    end))).
  Definition draw_read : tree Z := again attempt_read.

  (* the same as one program for the cell, and one for a comparison *)
  Definition cells_read : tree cell := bind (number row_bits) (fun row => bind (look row) (fun r => Ret (cell_of r))).
  Definition compare_read i y m : tree bool := bind (number height_bits) (fun F => compare_at i y m F).

  Lemma inner_read c l f : unit_f f ->
    E (number height_bits) (fun F => E (inner_at F c l) f) = E (inner wb tb first count compare_read c l) f.
  Proof.
    intros Hf.
    assert (Hd : forall i y m, E (number height_bits) (fun F => E (decide (fun i y m => compare_at i y m F) i y m) f)
                             = E (decide compare_read i y m) f).
    { intros i y m. unfold decide, compare_read. rewrite E_bind by exact Hf.
      rewrite (E_bind (number height_bits)) by now apply unit_E.
      apply E_ext. intros F. now rewrite E_bind by exact Hf. }
    unfold inner_at. destruct c as [j|j m|side p|]; cbn [inner].
    - rewrite E_Ret. apply E_const; [apply Hf | apply number_ends].
    - apply Hd.
    - rewrite E_bind by exact Hf.
      rewrite (E_ext _ _ (fun F => E (level_from 0) (fun i =>
        E (decide (fun i y m => compare_at i y m F) i (tail_y wb tb first count side i p l) 0) f)))
        by (intros F; now rewrite E_bind by exact Hf).
      rewrite (E_swap (number height_bits) (level_from 0) (fun F i =>
        E (decide (fun i y m => compare_at i y m F) i (tail_y wb tb first count side i p l) 0) f))
        by (intros F i; now apply E_unit).
      apply E_ext. intros i. apply Hd.
    - rewrite E_Ret. apply E_const; [apply Hf | apply number_ends].
  Qed.

  Lemma attempt_read_is f : unit_f f ->
    E attempt_read f = E (attempt wb tb first count cells_read compare_read) f.
  Proof.
    intros Hf. unfold attempt_read, attempt, cells_read. rewrite !E_bind by unit.
    apply E_ext. intros row. rewrite !E_bind by unit.
    rewrite (E_ext (number tick_bits) _ (fun tick => E (look row) (fun r =>
      E (number rest_bits) (fun rest => E (inner wb tb first count compare_read (cell_of r) (low_bits tick rest)) f)))).
    - rewrite (E_swap (number tick_bits) (look row) (fun tick r => E (number rest_bits) (fun rest =>
        E (inner wb tb first count compare_read (cell_of r) (low_bits tick rest)) f))).
      2: { intros tick r. apply E_unit. intros rest. now apply E_unit. }
      apply E_ext. intros r. rewrite E_Ret, E_bind by exact Hf. symmetry.
      exact (number_split tick_bits rest_bits (fun l => E (inner wb tb first count compare_read (cell_of r) l) f) ltac:(unit)).
    - intros tick. rewrite E_bind by exact Hf. apply E_ext. intros [j|c].
      + rewrite E_bind by exact Hf. apply E_ext. intros rest. reflexivity.
      + rewrite E_bind by exact Hf.
        rewrite (E_ext _ _ (fun F => E (number rest_bits) (fun rest => E (inner_at F c (low_bits tick rest)) f)))
          by (intros F; now rewrite E_bind by exact Hf).
        rewrite (E_swap (number height_bits) (number rest_bits) (fun F rest => E (inner_at F c (low_bits tick rest)) f))
          by (intros F rest; now apply E_unit).
        apply E_ext. intros rest. now apply inner_read.
  Qed.

  Variables (n full : Z -> nat) (rejects b : nat) (H : R) (g : Z -> R).
  Hypothesis H_pos : 0 < H.
  Hypothesis g_pos : forall y, 0 < g y.
  Hypothesis F12 : forall y, (first * w wb <= y < last1 first count * w wb)%Z ->
    INR (full (y / w wb)%Z) <= H * g y <= INR (n (y / w wb)%Z).
  Hypothesis F4 : forall side i p l, (0 <= p < Z.of_nat (2 ^ tb))%Z -> (0 <= l < w wb)%Z ->
    2 ^ i * (H * g (tail_y wb tb first count side i p l)) <= 1.
  Hypothesis F5 : forall f, unit_f f -> E cells_read f = / 2 ^ b * total f (all_cells tb first count n full rejects).
  Hypothesis look_ends : forall row, E (look row) (fun _ => 1) = 1.
  Hypothesis compare_yes : forall i y m, E (number height_bits) (fun F => E (compare_at i y m F) yes) =
    clamp (2 ^ i * (H * g y) - INR m).
  Hypothesis compare_ends : forall i y m F, E (compare_at i y m F) (fun _ => 1) = 1.

  Theorem read_law : has_law g draw_read.
  Proof.
    assert (Hce : E cells_read (fun _ => 1) = 1).
    { apply bind_ends; [apply number_ends|]. intros row. apply bind_ends; [apply look_ends|]. intros r. now rewrite E_Ret. }
    assert (Hy : forall i y m, E (compare_read i y m) yes = clamp (2 ^ i * (H * g y) - INR m)).
    { intros i y m. unfold compare_read. rewrite E_bind by apply unit_yes. apply compare_yes. }
    assert (He : forall i y m, E (compare_read i y m) (fun _ => 1) = 1).
    { intros i y m. apply bind_ends; [apply number_ends|]. intros F. apply compare_ends. }
    pose proof (two_pow b) as Hb. pose proof (two_pow wb) as Hw.
    apply (again_has_law _ _ (H / (2 ^ b * 2 ^ wb))).
    - apply Rdiv_lt_0_compat; [exact H_pos | now apply Rmult_lt_0_compat].
    - exact g_pos.
    - rewrite attempt_read_is by apply unit_one. exact (attempt_ends wb tb first count cells_read compare_read Hce He).
    - intros y. rewrite attempt_read_is by apply unit_is_y.
      rewrite (attempt_law b wb tb first count n full rejects cells_read H g compare_read H_pos g_pos F12 F4 F5 Hy). field. lra.
  Qed.
End Read.
