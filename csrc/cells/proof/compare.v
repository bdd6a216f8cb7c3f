(* PROOF.md, lemmas 9, 10, 11: is m + f' < 2^i H g(y), f' uniform in [0, 1)? By an arc, else by bounds of g.

   Let x = 2^i H g(y) - m. `compare` reads the 16 bits F of f', as dg_arc_tells does, and decides by v and error if
   they tell; otherwise `refine` (dg_refine) goes on from F: at precision number j, f being the n bits read,
   lower j n <= 2^n x <= upper j n are integers. It accepts if f + 1 <= lower, rejects if f >= upper, and otherwise
   takes the next precision, or a word more of f' if the bounds are within 2 of each other.

   Proven: it is true with probability exactly clamp x, and ends almost surely. Asked of the bounds: that they
   hold, and that for each n they are within 2 of each other from some precision on. Of the arc: lemma 9.
   Nothing is asked of x: no transcendental numbers, nothing about ties. *)
From Coq Require Import Reals Lra Lia ZArith List Bool.
From Coquelicot Require Import Coquelicot.
From DG.exact Require Import programs.
Import ListNotations.
Open Scope R_scope.

Definition clamp (t : R) : R := Rmin 1 (Rmax 0 t).
Ltac clamps := unfold clamp, Rmin, Rmax in *; repeat destruct Rle_dec; try lra.
Lemma clamp_unit t : 0 <= clamp t <= 1. Proof. clamps. Qed.

(* lemma 6's sum: of a column of height x, the part in each of n cells *)
Fixpoint slabs (n : nat) (x : R) : R := match n with O => 0 | S k => slabs k x + clamp (x - INR k) end.
Lemma slabs_is n x : 0 <= x -> slabs n x = Rmin x (INR n).
Proof.
  intros Hx. induction n as [|k IH].
  - simpl. rewrite Rmin_right; lra.
  - cbn [slabs]. rewrite IH, S_INR. pose proof (pos_INR k). clamps.
Qed.
Lemma slabs_none n x : x <= 0 -> slabs n x = 0.
Proof. intros Hx. induction n as [|k IH]; [reflexivity|]. cbn [slabs]. rewrite IH. pose proof (pos_INR k). clamps. Qed.

Lemma total_clamp n x : total (fun c => clamp (x - IZR c)) (zs n) = slabs n x.
Proof.
  induction n as [|n IH]; [reflexivity|]. unfold zs in *. rewrite seq_S, map_app, total_app, IH. cbn [map total slabs].
  rewrite Nat.add_0_l, <- INR_IZR_INZ. lra.
Qed.

(* a number x in [0, 1) is compared with more bits of f' as it is with f': the mean over these is the same *)
Lemma mean_clamp b x : E (number b) (fun c => clamp (2 ^ b * x - IZR c)) = clamp x.
Proof.
  rewrite number_law by (intros c; apply clamp_unit). rewrite total_clamp.
  assert (Hb : 0 < 2 ^ b) by (apply pow_lt; lra).
  assert (Hn : INR (2 ^ b) = 2 ^ b) by (rewrite pow_INR; simpl INR; reflexivity).
  assert (Hr : forall z, z = 2 ^ b * clamp x -> / 2 ^ b * z = clamp x) by (intros z ->; field; lra).
  apply Hr. destruct (Rle_dec x 0) as [Hx|Hx].
  - rewrite slabs_none by nra. replace (clamp x) with 0 by clamps. ring.
  - rewrite slabs_is by nra. rewrite Hn. clamps; nra.
Qed.

Definition no (c : bool) : R := if c then 0 else 1.
Lemma unit_no : unit_f no. Proof. intros [|]; simpl; lra. Qed.
Lemma two_pow n : 0 < 2 ^ n. Proof. apply pow_lt. lra. Qed.

Section Refine.
  Variable word : nat.                               (* the bits read at a time: 64 *)
  Variables lower upper : nat -> nat -> Z.

  Definition refine_step (s : nat * nat * Z) : tree (nat * nat * Z + bool) :=
    let '(j, n, f) := s in
    if (f + 1 <=? lower j n)%Z then Ret (inr true)
    else if (upper j n <=? f)%Z then Ret (inr false)
    else if (2 <? upper j n - lower j n)%Z then Ret (inl (S j, n, f))
    else bind (number word) (fun c => Ret (inl (j, (n + word)%nat, (f * 2 ^ Z.of_nat word + c)%Z))).
  Definition refine (j n : nat) (f : Z) : tree bool := loop refine_step (j, n, f).

  Lemma E_refine j n f h : unit_f h -> E (refine j n f) h =
    if (f + 1 <=? lower j n)%Z then h true
    else if (upper j n <=? f)%Z then h false
    else if (2 <? upper j n - lower j n)%Z then E (refine (S j) n f) h
    else E (number word) (fun c => E (refine j (n + word) (f * 2 ^ Z.of_nat word + c)%Z) h).
  Proof.
    intros Hh. unfold refine at 1. rewrite E_loop by exact Hh. unfold refine_step at 1.
    destruct (f + 1 <=? lower j n)%Z, (upper j n <=? f)%Z, (2 <? upper j n - lower j n)%Z; rewrite ?E_Ret; try reflexivity.
    rewrite E_bind by now apply unit_go_on. apply E_ext. intros c. now rewrite E_Ret.
  Qed.

  (* which bounds are looked at does not depend on f: those after m steps *)
  Definition next (s : nat * nat) : nat * nat :=
    let '(j, n) := s in if (2 <? upper j n - lower j n)%Z then (S j, n) else (j, n + word)%nat.
  Fixpoint path (m : nat) (s : nat * nat) : nat * nat := match m with O => s | S m => path m (next s) end.
  Definition low (s : nat * nat) : R := IZR (lower (fst s) (snd s)) / 2 ^ snd s.
  Definition high (s : nat * nat) : R := IZR (upper (fst s) (snd s)) / 2 ^ snd s.

  Variable x : R.
  Hypothesis holds : forall j n, IZR (lower j n) <= 2 ^ n * x <= IZR (upper j n).

  Lemma low_high s : low s <= x <= high s.
  Proof.
    unfold low, high. destruct s as [j n]. simpl. pose proof (holds j n). pose proof (two_pow n).
    split; [apply Rle_div_l | apply Rle_div_r]; lra.
  Qed.

  Lemma more_bits n (z : R) (f : Z) : clamp (2 ^ n * z - IZR f) =
    E (number word) (fun c => clamp (2 ^ (n + word) * z - IZR (f * 2 ^ Z.of_nat word + c))).
  Proof.
    rewrite <- (mean_clamp word (2 ^ n * z - IZR f)). apply E_ext. intros c. f_equal.
    rewrite plus_IZR, mult_IZR, <- pow_IZR, pow_add. ring.
  Qed.

  (* accepted with at least what a later lower bound vouches for *)
  Lemma accepted m : forall j n f, clamp (2 ^ n * low (path m (j, n)) - IZR f) <= E (refine j n f) yes.
  Proof.
    induction m as [|m IH]; intros j n f; rewrite E_refine by apply unit_yes;
      set (later := path _ (j, n)); pose proof (low_high later) as Hl; pose proof (holds j n) as Hx;
      pose proof (two_pow n) as Hn.
    all: destruct (Z.leb_spec (f + 1) (lower j n)) as [Ha|Ha]; [simpl; apply clamp_unit|].
    all: destruct (Z.leb_spec (upper j n) f) as [Hr|Hr];
      [ apply IZR_le in Hr; replace (clamp _) with 0; [simpl; lra|];
        assert (2 ^ n * low later <= 2 ^ n * x) by (apply Rmult_le_compat_l; lra); clamps |].
    - replace (clamp _) with 0.
      { destruct (2 <? upper j n - lower j n)%Z; apply E_unit; [apply unit_yes | intros c; apply E_unit, unit_yes]. }
      unfold later, low. simpl. apply Zlt_succ_le, IZR_le in Ha.
      replace (2 ^ n * (IZR (lower j n) / 2 ^ n)) with (IZR (lower j n)) by (field; lra). clamps.
    - unfold later. cbn [path]. unfold next. destruct (2 <? upper j n - lower j n)%Z; [apply IH|].
      rewrite more_bits. apply E_mono; [intros c; apply clamp_unit | intros c; apply E_unit, unit_yes | intros c; apply IH].
  Qed.

  Lemma rejected m : forall j n f, 1 - clamp (2 ^ n * high (path m (j, n)) - IZR f) <= E (refine j n f) no.
  Proof.
    induction m as [|m IH]; intros j n f; rewrite E_refine by apply unit_no;
      set (later := path _ (j, n)); pose proof (low_high later) as Hl; pose proof (holds j n) as Hx;
      pose proof (two_pow n) as Hn.
    all: destruct (Z.leb_spec (f + 1) (lower j n)) as [Ha|Ha];
      [ apply IZR_le in Ha; rewrite plus_IZR in Ha; replace (clamp _) with 1; [simpl; lra|];
        assert (2 ^ n * x <= 2 ^ n * high later) by (apply Rmult_le_compat_l; lra); clamps |].
    all: destruct (Z.leb_spec (upper j n) f) as [Hr|Hr];
      [ pose proof (clamp_unit (2 ^ n * high later - IZR f)); simpl; lra |].
    - replace (clamp _) with 1.
      { rewrite Rminus_eq_0. destruct (2 <? upper j n - lower j n)%Z; apply E_unit; [apply unit_no | intros c; apply E_unit, unit_no]. }
      unfold later, high. simpl. apply Zlt_le_succ, IZR_le in Hr. rewrite <- Z.add_1_r, plus_IZR in Hr.
      replace (2 ^ n * (IZR (upper j n) / 2 ^ n)) with (IZR (upper j n)) by (field; lra). clamps.
    - unfold later. cbn [path]. unfold next. destruct (2 <? upper j n - lower j n)%Z; [apply IH|].
      rewrite more_bits. set (z := high _).
      assert (Hu : unit_f (fun c => clamp (2 ^ (n + word) * z - IZR (f * 2 ^ Z.of_nat word + c))))
        by (intros c; apply clamp_unit).
      apply Rle_trans with (E (number word) (fun c => 1 * 1 + -1 * clamp (2 ^ (n + word) * z - IZR (f * 2 ^ Z.of_nat word + c)))).
      { rewrite (E_lin (number word) (fun _ => 1)) by (apply unit_one || exact Hu). rewrite number_ends. lra. }
      apply E_mono; [| intros c; apply E_unit, unit_no |].
      + intros c. pose proof (Hu c). cbv beta in *. lra.
      + intros c. pose proof (IH j (n + word)%nat (f * 2 ^ Z.of_nat word + c)%Z) as Hc. fold z in Hc. cbv beta. lra.
  Qed.

  Hypothesis word_pos : (1 <= word)%nat.
  Hypothesis narrow : forall n, exists j0, forall j, (j0 <= j)%nat -> (upper j n - lower j n <= 2)%Z.

  Lemma path_add m m' : forall s, path (m + m') s = path m' (path m s).
  Proof. induction m as [|m IH]; intros s; [reflexivity|]. simpl. apply IH. Qed.

  Definition width s := (upper (fst s) (snd s) - lower (fst s) (snd s))%Z.
  Lemma gets_narrow j n : exists m j', path m (j, n) = (j', n) /\ (width (j', n) <= 2)%Z.
  Proof.
    destruct (narrow n) as [j0 H0].
    assert (H : forall d j, (j0 <= j + d)%nat -> exists m j', path m (j, n) = (j', n) /\ (width (j', n) <= 2)%Z).
    { induction d as [|d IH]; intros i Hi.
      - exists O, i. split; [reflexivity|]. apply (H0 i). lia.
      - destruct (Z.ltb_spec 2 (upper i n - lower i n)) as [Hw|Hw].
        + destruct (IH (S i) ltac:(lia)) as (m & j' & Hp & Hw'). exists (S m), j'. split; [|exact Hw'].
          simpl. replace (2 <? upper i n - lower i n)%Z with true by (symmetry; apply Z.ltb_lt; lia). exact Hp.
        + exists O, i. split; [reflexivity | exact Hw]. }
    apply (H j0 j). lia.
  Qed.
  Lemma gets_long N : forall j n, exists m j' n', path m (j, n) = (j', n') /\ (width (j', n') <= 2)%Z /\ (N <= n')%nat.
  Proof.
    induction N as [|N IH]; intros j n.
    - destruct (gets_narrow j n) as (m & j' & Hp & Hw). exists m, j', n. auto with arith.
    - destruct (IH j n) as (m & j' & n' & Hp & Hw & Hn).
      destruct (gets_narrow j' (n' + word)) as (m' & j'' & Hp' & Hw').
      exists (m + S m')%nat, j'', (n' + word)%nat. rewrite path_add, Hp. simpl.
      unfold width in Hw. simpl in Hw.
      replace (2 <? upper j' n' - lower j' n')%Z with false by (symmetry; apply Z.ltb_ge; lia).
      split; [exact Hp' | split; [exact Hw' | lia]].
  Qed.

  Lemma gets_close j n e : 0 < e -> exists m, high (path m (j, n)) - low (path m (j, n)) <= e.
  Proof.
    intros He. destruct (pow_lt_1_zero (/2) ltac:(rewrite Rabs_pos_eq; lra) (e / 2) ltac:(lra)) as [N HN].
    destruct (gets_long N j n) as (m & j' & n' & Hp & Hw & Hn). exists m. rewrite Hp. unfold high, low. simpl.
    specialize (HN n' ltac:(lia)). rewrite Rabs_pos_eq, pow_inv in HN by (apply pow_le; lra).
    unfold width in Hw. simpl in Hw. apply IZR_le in Hw. rewrite minus_IZR in Hw. pose proof (two_pow n').
    assert (0 < / 2 ^ n') by now apply Rinv_0_lt_compat.
    replace (IZR (upper j' n') / 2 ^ n' - IZR (lower j' n') / 2 ^ n')
      with ((IZR (upper j' n') - IZR (lower j' n')) * / 2 ^ n') by (field; lra). nra.
  Qed.

  Lemma both t : E t yes + E t no <= 1.
  Proof.
    assert (H0 : unit_f (fun c => 1 * yes c + 1 * no c)) by (intros [|]; simpl; lra).
    pose proof (E_unit t _ H0) as H1. rewrite E_lin in H1 by (apply unit_yes || apply unit_no). lra.
  Qed.

  (* lemma 11 *)
  Theorem refine_law j n f : E (refine j n f) yes = clamp (2 ^ n * x - IZR f) /\ E (refine j n f) (fun _ => 1) = 1.
  Proof.
    assert (Hy : clamp (2 ^ n * x - IZR f) <= E (refine j n f) yes).
    { apply le_epsilon. intros e He. pose proof (two_pow n) as Hn.
      destruct (gets_close j n (e / 2 ^ n) ltac:(apply Rdiv_lt_0_compat; lra)) as [m Hm].
      pose proof (accepted m j n f). pose proof (low_high (path m (j, n))). set (l := low _) in *. set (h := high _) in *.
      assert (2 ^ n * (h - l) <= e) by (apply Rmult_le_compat_l with (r := 2 ^ n) in Hm; [|lra]; replace (2 ^ n * (e / 2 ^ n)) with e in Hm by (field; lra); exact Hm).
      assert (2 ^ n * x <= 2 ^ n * h) by (apply Rmult_le_compat_l; lra). clamps. }
    assert (Hz : 1 - clamp (2 ^ n * x - IZR f) <= E (refine j n f) no).
    { apply le_epsilon. intros e He. pose proof (two_pow n) as Hn.
      destruct (gets_close j n (e / 2 ^ n) ltac:(apply Rdiv_lt_0_compat; lra)) as [m Hm].
      pose proof (rejected m j n f). pose proof (low_high (path m (j, n))). set (l := low _) in *. set (h := high _) in *.
      assert (2 ^ n * (h - l) <= e) by (apply Rmult_le_compat_l with (r := 2 ^ n) in Hm; [|lra]; replace (2 ^ n * (e / 2 ^ n)) with e in Hm by (field; lra); exact Hm).
      assert (2 ^ n * l <= 2 ^ n * x) by (apply Rmult_le_compat_l; lra). clamps. }
    pose proof (both (refine j n f)). assert (Ey : E (refine j n f) yes = clamp (2 ^ n * x - IZR f)) by lra.
    split; [exact Ey|]. rewrite (E_ext _ _ (fun c => 1 * yes c + 1 * no c)) by (intros [|]; simpl; lra).
    rewrite E_lin by (apply unit_yes || apply unit_no). lra.
  Qed.

  (* lemma 10: F is known to be in [0, 2^height_bits) *)
  Variable height_bits : nat.
  Definition bounded (t : R) : R := Rmin (2 ^ height_bits) (Rmax 0 t).
  Definition arc_says (v error : Z) : Prop :=
    bounded (IZR (v - error)) <= bounded (2 ^ height_bits * x) <= bounded (IZR (v + error)).
  Definition compare (v error F : Z) : tree bool :=
    if (F <? v - error)%Z then Ret true
    else if (v + error <=? F)%Z then Ret false
    else refine 0 height_bits F.

  Lemma compare_one v error F : arc_says v error -> (0 <= F < 2 ^ Z.of_nat height_bits)%Z ->
    E (compare v error F) yes = clamp (2 ^ height_bits * x - IZR F) /\ E (compare v error F) (fun _ => 1) = 1.
  Proof.
    intros [H1 H2] [HF0 HF]. unfold compare. apply IZR_le in HF0. apply Zlt_le_succ, IZR_le in HF.
    rewrite <- Z.add_1_r, plus_IZR, <- pow_IZR in HF. unfold bounded in *.
    destruct (Z.ltb_spec F (v - error)) as [Ha|Ha]; [|destruct (Z.leb_spec (v + error) F) as [Hr|Hr]].
    - rewrite !E_Ret. apply Zlt_le_succ, IZR_le in Ha. rewrite <- Z.add_1_r, plus_IZR in Ha. split; [|reflexivity].
      simpl. clamps.
    - rewrite !E_Ret. apply IZR_le in Hr. split; [|reflexivity]. simpl. clamps.
    - apply refine_law.
  Qed.

  Theorem compare_law v error : arc_says v error ->
    E (number height_bits) (fun F => E (compare v error F) yes) = clamp x /\
    (forall F, E (compare v error F) (fun _ => 1) = 1).
  Proof.
    intros Ha. split.
    - rewrite <- (mean_clamp height_bits x). rewrite !number_law;
        try (intros F; apply clamp_unit || apply E_unit, unit_yes). f_equal. apply total_ext. intros F HF.
      apply compare_one; [exact Ha|]. unfold zs in HF. rewrite in_map_iff in HF. destruct HF as (i & <- & Hi).
      apply in_seq in Hi. split; [lia|]. replace (2 ^ Z.of_nat height_bits)%Z with (Z.of_nat (2 ^ height_bits)); [lia|].
      rewrite Nat2Z.inj_pow. reflexivity.
    - intros F. unfold compare. destruct (F <? v - error)%Z; [now rewrite E_Ret|].
      destruct (v + error <=? F)%Z; [now rewrite E_Ret|]. apply refine_law.
  Qed.
End Refine.

(* Not vacuous: every real has such bounds. (The code's are MPFR's, lemma 12.) *)
Section Oracle.
  Variable x : R.
  Definition floor (j n : nat) : Z := (up (2 ^ n * x) - 1)%Z.
  Definition ceiling (j n : nat) : Z := up (2 ^ n * x).
  Lemma oracle_holds j n : IZR (floor j n) <= 2 ^ n * x <= IZR (ceiling j n).
  Proof. unfold floor, ceiling. rewrite minus_IZR. destruct (archimed (2 ^ n * x)). lra. Qed.
  Lemma oracle_narrow n : exists j0, forall j, (j0 <= j)%nat -> (ceiling j n - floor j n <= 2)%Z.
  Proof. exists O. intros j _. unfold ceiling, floor. lia. Qed.
End Oracle.
