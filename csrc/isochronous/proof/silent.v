(* The silent engine has the law (PROOF.md, lemmas 1 to 5). `look` is to be read beside settle_silent.c, and `facts`
   beside silent.h.

   Proven: what the integers of a law must say (`facts`, for the three kinds of laws) implies that an attempt returns every
   integer y with probability H g(y)/(2^24 w), tails included, that attempts end almost surely, and that the draws of a fill
   are independent and have the law. Whatever c says beyond that, and whatever kernels look up, does not matter. *)
From Coq Require Import Reals Lra Lia ZArith List Bool Arith.
From Coquelicot Require Import Coquelicot.
From DG.exact Require Import programs laws fills.
From DG.cells Require Import compare law.
From DG.isochronous Require Import walker batches.
Import ListNotations.
Open Scope R_scope.

(* ---- z is y on the right, and y = -1 - z on the left ---- *)
Definition side (left : bool) (z : Z) : Z := if left then (-1 - z)%Z else z.
Lemma side_side left z : side left (side left z) = z. Proof. unfold side. destruct left; lia. Qed.
Lemma side_is left z y : Z.eqb y (side left z) = Z.eqb (side left y) z.
Proof. unfold side. destruct left; [|reflexivity]. destruct (Z.eqb_spec y (-1 - z)), (Z.eqb_spec (-1 - y) z); (reflexivity || lia). Qed.

(* ---- an attempt from its bytes ---- *)
Fixpoint tick_from (n : nat) (bytes : list Z) : Z * list Z :=
  match n, bytes with
  | S n, byte :: bytes => let '(low, rest) := tick_from n bytes in (byte * 2 ^ Z.of_nat (8 * n) + low, rest)%Z
  | _, _ => (0%Z, bytes)
  end.

Lemma column_more n : forall bytes F, unit_f F ->
  E (one_column (S n) bytes) F = E (one_column n bytes) (fun l => E (number 8) (fun byte => F (byte :: l))).
Proof.
  induction n as [|n IH]; intros bytes F HF; cbn [one_column] in *; unfold add_byte in *.
  - rewrite !E_bind by unit. rewrite E_Ret. apply E_ext. intros byte. now rewrite !E_Ret.
  - rewrite E_bind by unit. rewrite E_bind by unit. rewrite E_bind with (t := bind _ _) by unit. rewrite E_bind by unit.
    apply E_ext. intros byte. rewrite !E_Ret. now apply IH.
Qed.
Lemma tick_law n : forall bytes F, (forall t l, 0 <= F t l <= 1) ->
  E (one_column n bytes) (fun l => F (fst (tick_from n l)) (snd (tick_from n l))) = E (number (8 * n)) (fun t => F t bytes).
Proof.
  induction n as [|n IH]; intros bytes F HF.
  - cbn [one_column]. change (number (8 * 0)) with (@Ret Z 0%Z). now rewrite !E_Ret.
  - rewrite column_more by (intros l; apply HF).
    rewrite (E_ext _ _ (fun l => (fun t l => E (number 8) (fun byte => F (byte * 2 ^ Z.of_nat (8 * n) + t)%Z l))
      (fst (tick_from n l)) (snd (tick_from n l)))).
    + rewrite (IH bytes (fun t l => E (number 8) (fun byte => F (byte * 2 ^ Z.of_nat (8 * n) + t)%Z l))) by (intros; apply E_unit; intros byte; apply HF).
      rewrite E_swap by (intros t byte; apply HF). replace (8 * S n)%nat with (8 + 8 * n)%nat by lia.
      now rewrite number_split by (intros t; apply HF).
    + intros l. apply E_ext. intros byte. cbn [tick_from]. now destruct (tick_from n l).
Qed.

Lemma number_ext b f g : unit_f f -> unit_f g -> (forall t, (0 <= t < 2 ^ Z.of_nat b)%Z -> f t = g t) -> E (number b) f = E (number b) g.
Proof.
  intros Hf Hg H. rewrite !number_law by assumption. f_equal. apply total_ext. intros t Ht. apply zs_in in Ht. apply H.
  rewrite Nat2Z.inj_pow in Ht. exact Ht.
Qed.
Lemma number_upper a b F : unit_f F -> E (number (a + b)) (fun t => F (t / 2 ^ Z.of_nat b)%Z) = E (number a) F.
Proof.
  intros HF. rewrite number_split by (intros t; apply HF). apply E_ext. intros h. rewrite (number_ext b _ (fun _ => F h)).
  - apply E_const; [apply HF | apply number_ends].
  - intros t. apply HF.
  - intros t. apply HF.
  - intros t Ht. f_equal. rewrite Z.div_add_l by lia. rewrite Z.div_small by exact Ht. lia.
Qed.

Lemma total_line (f : Z -> R) n m : total f (zs (n + m)) = total f (zs n) + total (fun p => f (Z.of_nat n + p)%Z) (zs m).
Proof.
  unfold zs. rewrite seq_app, map_app, total_app. f_equal. rewrite !total_map. cbn [Nat.add].
  assert (H : forall s, total (fun a => f (Z.of_nat a)) (seq (n + s) m) = total (fun a => f (Z.of_nat n + Z.of_nat a)%Z) (seq s m)).
  { induction m as [|m IH]; intros s; [reflexivity|]. cbn [seq total]. rewrite Nat2Z.inj_add, <- IH, Nat.add_succ_r. reflexivity. }
  specialize (H O). now rewrite Nat.add_0_r in H.
Qed.
Lemma total_const (f : Z -> R) q n : (forall p, f p = q) -> total f (zs n) = INR n * q.
Proof. intros H. rewrite <- (zs_length n), Rmult_comm, <- total_scal. apply total_ext. intros p _. rewrite H. ring. Qed.
Lemma IZR_sum {A} (f : A -> Z) l : IZR (sum f l) = total (fun a => IZR (f a)) l.
Proof. induction l as [|a l IH]; [reflexivity|]. cbn [sum total]. now rewrite plus_IZR, IH. Qed.

(* in a piece at most one position asks for f', given the tick: rel = floor(x), x no integer *)
Lemma border_once x rel rel' : IZR rel < x < IZR rel + 1 -> IZR rel' < x < IZR rel' + 1 -> rel = rel'.
Proof.
  intros H H'. assert (A : IZR rel < IZR (rel' + 1)) by (rewrite plus_IZR; lra). assert (B : IZR rel' < IZR (rel + 1)) by (rewrite plus_IZR; lra).
  apply lt_IZR in A, B. lia.
Qed.

Section Silent.
  Variable l : law.                                (* f <= 0: the law, or its mirror image *)
  Variables (block_bits planes : nat) (height : Z) (c end_ alias : Z -> Z).
  (* bounds of 2^level H g(y) pieces/units - m, as compare.v asks for them *)
  Variables lower upper : nat -> Z -> Z -> Z -> Z -> nat -> nat -> Z.

  Let w : Z := (2 ^ Z.of_nat block_bits)%Z.
  Definition asked_of (level : nat) (y m pieces units : Z) : R :=
    2 ^ level * (IZR height * g l y) * IZR pieces / IZR units - IZR m.
  Definition ask (level : nat) (y m pieces units F : Z) : tree bool :=
    refine 64 (lower level y m pieces units) (upper level y m pieces units) 0 64 F.
  Definition if_yes (y : Z) (ok : bool) : tree (option Z) := Ret (if ok then Some y else None).

  (* an attempt in a block: the place rel in a piece of `pieces` positions of its code *)
  Definition decide (code rel pieces tick : Z) : option Z + (Z -> tree (option Z)) :=
    let y := side (128 <=? code)%Z (code mod 128 * w + tick)%Z in
    let x := IZR pieces * (IZR height * g l y) / IZR (c code) in
    if Rle_dec (IZR rel + 1) x then inl (Some y)
    else if Rle_dec x (IZR rel) then inl None
    else inr (fun F => bind (ask 0 y rel pieces (c code) F) (if_yes y)).
  (* in a tail: the word decides nearly always; else k and the level are read *)
  Definition decide_tail (left : bool) (tick F : Z) : tree (option Z) :=
    if (2 ^ 26 <=? F)%Z then Ret None
    else bind (number 1) (fun k => bind (level_from 0) (fun j =>
      let y := side left ((127 + 2 * Z.of_nat j + k) * w + tick)%Z in
      bind (ask (j + 2) y 0 1 1 F) (if_yes y))).
  Definition look_at (row position tick : Z) : option Z + (Z -> tree (option Z)) :=
    let second := (end_ row <=? position)%Z in
    let code := if second then alias row else row in
    let rel := (if second then position - end_ row else position)%Z in
    let pieces := (if second then POSITIONS - end_ row else end_ row)%Z in
    if (code mod 128 =? 127)%Z then inr (decide_tail (128 <=? code)%Z tick) else decide code rel pieces tick.
  Definition look (bytes : list Z) : option Z + (Z -> tree (option Z)) :=
    let '(tick, rest) := tick_from planes bytes in
    match rest with
    | [low; high; row] => look_at row (256 * high + low) (tick / 2 ^ Z.of_nat (8 * planes - block_bits))
    | _ => inl None
    end.

  Definition attempt : tree (option Z) := batches.attempt (3 + planes) look.
  Definition draws : tree Z := again attempt.
  Definition fill (n_words : nat) (size limit : nat -> nat) (n : nat) : tree (list Z) := batches.fill (3 + planes) n_words look size limit n.

  (* what build_silent.c ensures, and fill_rows: (R) *)
  Record facts : Prop := {
    f_valid : valid l = true;
    f_planes : (block_bits <= 8 * planes)%nat;
    f_height : (0 < height <= 2 ^ 24)%Z;
    f_c : forall i, In i codes -> (1 <= c i)%Z;
    f_above : forall i, In i codes -> (i mod 128 <> 127)%Z ->
      IZR height * g l (side (128 <=? i)%Z (i mod 128 * w)) <= IZR (c i);
    f_tails : c 127%Z = 1%Z /\ c 255%Z = 1%Z;
    f_far : forall left, g l (side left (127 * w)) <= / 2 ^ 64
  }.
  Record rows : Prop := {
    r_end : forall r, In r codes -> (1 <= end_ r <= POSITIONS - 1)%Z;
    r_alias : forall r, In r codes -> In (alias r) codes;
    r_shares : forall i, In i codes -> sum (fun r =>
      ((if r =? i then end_ r else 0) + (if alias r =? i then POSITIONS - end_ r else 0))%Z) codes = c i
  }.
  Hypothesis format : facts.
  Hypothesis filled : rows.
  Hypothesis bounds_hold : forall level y m pieces units j b,
    IZR (lower level y m pieces units j b) <= 2 ^ b * asked_of level y m pieces units <= IZR (upper level y m pieces units j b).
  Hypothesis bounds_narrow : forall level y m pieces units b, exists j0, forall j, (j0 <= j)%nat ->
    (upper level y m pieces units j b - lower level y m pieces units j b <= 2)%Z.

  Lemma w_pos : (1 <= w)%Z. Proof. unfold w. pose proof (Z.pow_pos_nonneg 2 (Z.of_nat block_bits)). lia. Qed.
  Lemma w_is : INR (2 ^ block_bits) = 2 ^ block_bits. Proof. rewrite pow_INR. reflexivity. Qed.
  Lemma w_nat : Z.of_nat (2 ^ block_bits) = w. Proof. unfold w. now rewrite Nat2Z.inj_pow. Qed.
  Lemma code_range i : In i codes -> (0 <= i < 256)%Z.
  Proof. unfold codes. rewrite in_map_iff. intros (n & <- & Hn). apply in_seq in Hn. lia. Qed.
  Lemma code_in i : (0 <= i < 256)%Z -> In i codes.
  Proof. intros Hi. apply in_map_iff. exists (Z.to_nat i). split; [lia|]. apply in_seq. lia. Qed.
  Lemma H_pos : 0 < IZR height. Proof. apply IZR_lt. apply (f_height format). Qed.
  Lemma c_pos i : In i codes -> 0 < IZR (c i).
  Proof. intros Hi. apply IZR_lt. pose proof (f_c format i Hi). lia. Qed.

  (* ---- asking ---- *)
  Lemma ask_law level y m pieces units : E (number 64) (fun F => E (ask level y m pieces units F) yes) = clamp (asked_of level y m pieces units).
  Proof.
    rewrite <- (mean_clamp 64). apply E_ext. intros F. unfold ask. apply refine_law; [intros; apply bounds_hold | lia | intros; apply bounds_narrow].
  Qed.
  Lemma ask_yes level y m pieces units F : E (ask level y m pieces units F) yes = clamp (2 ^ 64 * asked_of level y m pieces units - IZR F).
  Proof. apply refine_law; [intros; apply bounds_hold | lia | intros; apply bounds_narrow]. Qed.
  Lemma ask_ends level y m pieces units F : E (ask level y m pieces units F) (fun _ => 1) = 1.
  Proof. apply (refine_law _ _ _ (asked_of level y m pieces units)); [intros; apply bounds_hold | lia | intros; apply bounds_narrow]. Qed.
  Lemma if_yes_law t z y : E (bind t (if_yes z)) (is_y y) = if Z.eqb y z then E t yes else 0.
  Proof.
    rewrite E_bind by apply unit_is_y. rewrite (E_ext _ _ (fun ok => at_z y z * yes ok)).
    - rewrite E_scal by apply unit_yes. unfold at_z. destruct Z.eqb; lra.
    - intros [|]; unfold if_yes; rewrite E_Ret; simpl; lra.
  Qed.
  Lemma if_yes_ends t z : E t (fun _ => 1) = 1 -> E (bind t (if_yes z)) (fun _ => 1) = 1.
  Proof. intros H. apply bind_ends; [exact H|]. intros ok. unfold if_yes. now rewrite E_Ret. Qed.

  Definition of (o : option Z + (Z -> tree (option Z))) : tree (option Z) := match o with inl o => Ret o | inr ask => bind (number 64) ask end.

  Lemma decide_law code rel pieces tick y : (code mod 128 <> 127)%Z ->
    let z := side (128 <=? code)%Z (code mod 128 * w + tick)%Z in
    E (of (decide code rel pieces tick)) (is_y y) = if Z.eqb y z then clamp (IZR pieces * (IZR height * g l y) / IZR (c code) - IZR rel) else 0.
  Proof.
    intros Hcode z. unfold decide. fold z. destruct (Rle_dec (IZR rel + 1) _) as [H1|H1]; [|destruct (Rle_dec _ (IZR rel)) as [H0|H0]]; cbn [of].
    - rewrite E_Ret. cbn [is_y some]. unfold at_z. destruct (Z.eqb_spec y z) as [->|]; [|reflexivity]. clamps.
    - rewrite E_Ret. cbn [is_y some]. destruct (Z.eqb_spec y z) as [->|]; [|reflexivity]. clamps.
    - rewrite E_bind by apply unit_is_y. rewrite (E_ext _ _ (fun F => (if Z.eqb y z then 1 else 0) * E (ask 0 z rel pieces (c code) F) yes))
        by (intros F; rewrite if_yes_law; destruct Z.eqb; ring).
      rewrite E_scal by (intros F; apply E_unit, unit_yes). rewrite ask_law. destruct (Z.eqb_spec y z) as [->|]; [|ring].
      unfold asked_of. rewrite Rmult_1_l. f_equal. simpl (2 ^ 0). unfold Rdiv. ring.
  Qed.

  (* ---- tails: 2^(level + 2) H g is below 2^-38 ---- *)
  Lemma falls left z z' : (0 <= z' <= z)%Z -> g l (side left z) <= g l (side left z').
  Proof.
    intros Hz. pose proof (f_valid format) as Hv. apply g_falls; [exact Hv|].
    unfold side. destruct left; [apply dist_down | apply dist_up]; try exact Hv; lia.
  Qed.

  Lemma halves y step : (1 <= y /\ 0 < step \/ y <= -1 /\ step < 0)%Z -> g l y <= / 2 ^ 64 ->
    (Z.abs y <= 64 * Z.abs step)%Z -> forall i, 2 ^ i * (2 ^ 64 * g l (y + Z.of_nat i * step)) <= 1.
  Proof.
    intros Hside Hy Hstep i. pose proof (f_valid format) as Hv.
    assert (H64 : phi l (r l y) - phi l (r l 0) >= 64 * ln 2).
    { apply Rle_ge, Rnot_lt_le. intros Hlt.
      assert (H2 : exp (- (64 * ln 2)) = / 2 ^ 64).
      { rewrite exp_Ropp. f_equal. rewrite <- (Rpower_pow 64) by lra. unfold Rpower. do 2 f_equal. simpl. lra. }
      assert (exp (- (64 * ln 2)) < g l y) by (apply exp_increasing; lra). lra. }
    pose proof (two_pow 64) as H264. apply tail_halves; [exact Hv | exact H264 | exact Hside | |].
    - apply Rle_trans with (2 ^ 64 * / 2 ^ 64); [apply Rmult_le_compat_l; lra | right; field; lra].
    - assert (Hln : 0 < ln 2) by (rewrite <- ln_1; apply ln_increasing; lra).
      assert (Hfar : (1 <= Z.abs y)%Z) by lia. apply IZR_le in Hfar. apply IZR_le in Hstep. rewrite mult_IZR in Hstep.
      assert (Hr0 : 0 <= r l 0) by apply r_nonneg. assert (Hr : 0 <= r l y) by apply r_nonneg.
      assert (Hrr : r l y - r l 0 <= IZR (Z.abs y)).
      { unfold r. rewrite <- Rabs_Zabs. pose proof (Rabs_triang_inv (IZR y - IZR (k l) / IZR (d l)) (0 - IZR (k l) / IZR (d l))) as Ht.
        replace (IZR y - IZR (k l) / IZR (d l) - (0 - IZR (k l) / IZR (d l))) with (IZR y) in Ht by ring. exact Ht. }
      assert (Hpos : 0 < r l y).
      { destruct (Rle_lt_or_eq_dec 0 (r l y) Hr) as [|H0]; [assumption|]. exfalso.
        pose proof (phi_zero l Hv) as Hz. rewrite <- H0, Hz in H64. pose proof (phi_nonneg l Hv (r l 0) Hr0). lra. }
      destruct (tangent l Hv (r l y) Hpos) as (p & Hp & Ht).
      pose proof (Ht (r l 0) Hr0) as H0. pose proof (r_steps l Hv y step 1 Hside) as Hs.
      simpl INR in Hs. rewrite Rmult_1_l in Hs. replace (y + Z.of_nat 1 * step)%Z with (y + step)%Z in Hs by lia.
      assert (HA : 0 < IZR (Z.abs step)) by (apply IZR_lt; lia).
      pose proof (Ht (r l (y + step)) ltac:(lra)) as H1. rewrite Hs in H1. rewrite Hs.
      assert (Hgain : ln 2 <= p * IZR (Z.abs step)).
      { assert (64 * ln 2 <= p * IZR (Z.abs y)) by nra. assert (p * IZR (Z.abs y) <= p * (64 * IZR (Z.abs step))) by (apply Rmult_le_compat_l; lra). lra. }
      apply Rle_trans with (exp (- ln 2)); [apply exp_le; lra|]. rewrite exp_Ropp, exp_ln by lra. lra.
  Qed.

  (* lemma 3 *)
  Theorem tails_are_small left j z : ((127 + 2 * Z.of_nat j) * w <= z)%Z -> 2 ^ 64 * (2 ^ (j + 2) * (IZR height * g l (side left z))) <= 2 ^ 26.
  Proof.
    intros Hz. pose proof w_pos as Hw. pose proof (f_far format left) as Hfar.
    assert (Hj : 2 ^ j * (2 ^ 64 * g l (side left ((127 + 2 * Z.of_nat j) * w))) <= 1).
    { unfold side in *. destruct left.
      - replace (-1 - (127 + 2 * Z.of_nat j) * w)%Z with (-1 - 127 * w + Z.of_nat j * (- (2 * w)))%Z by ring. apply halves; [right; lia | exact Hfar | lia].
      - replace ((127 + 2 * Z.of_nat j) * w)%Z with (127 * w + Z.of_nat j * (2 * w))%Z by ring. apply halves; [left; lia | exact Hfar | lia]. }
    pose proof (falls left z ((127 + 2 * Z.of_nat j) * w) ltac:(nia)) as Hg. pose proof (g_pos l (side left z)) as Hp.
    pose proof (two_pow j) as H2. destruct (f_height format) as [H0 H24]. apply IZR_lt in H0. apply IZR_le in H24. rewrite <- pow_IZR with (n := 24%nat) in H24.
    set (a := 2 ^ j * (2 ^ 64 * g l (side left z))).
    assert (Ha : 0 < a <= 1).
    { unfold a. split; [apply Rmult_lt_0_compat; [exact H2 | apply Rmult_lt_0_compat; [apply two_pow | exact Hp]]|].
      apply Rle_trans with (2 := Hj). apply Rmult_le_compat_l; [lra|]. apply Rmult_le_compat_l; [left; apply two_pow | exact Hg]. }
    rewrite pow_add. replace (2 ^ 64 * (2 ^ j * 2 ^ 2 * (IZR height * g l (side left z)))) with (2 ^ 2 * IZR height * a) by (unfold a; ring).
    replace (2 ^ 26) with (2 ^ 2 * 2 ^ 24) by ring. assert (IZR height * a <= IZR height) by nra. nra.
  Qed.

  Definition out left y : Z := (side left y - 127 * w)%Z.
  Lemma tail_law left y : E (number block_bits) (fun tick => E (number 64) (fun F => E (decide_tail left tick F) (is_y y))) =
    if (0 <=? out left y)%Z then IZR height * g l y / 2 ^ block_bits else 0.
  Proof.
    pose proof w_pos as Hw. set (x := fun j => 2 ^ (j + 2) * (IZR height * g l y)).
    set (z := fun (j : nat) (u : Z) => ((127 + 2 * Z.of_nat j) * w + u)%Z).
    assert (Hx : forall j, 0 < x j) by (intros j; apply Rmult_lt_0_compat; [apply two_pow | apply Rmult_lt_0_compat; [apply H_pos | apply g_pos]]).
    pose (at_ := fun j u => if Z.eqb y (side left (z j u)) then clamp (x j) else 0).
    assert (Hu : forall j u, 0 <= at_ j u <= 1) by (intros; unfold at_; destruct Z.eqb; [apply clamp_unit | lra]).
    (* a word is compared with what the level and y say, even if it is not asked *)
    transitivity (E (number block_bits) (fun tick => E (number 1) (fun k => E (level_from 0) (fun j => at_ j (k * w + tick)%Z)))).
    { apply number_ext.
      - intros tick. apply E_unit. intros F. apply E_unit, unit_is_y.
      - intros tick. apply E_unit. intros k. apply E_unit. intros j. apply Hu.
      - intros tick Htick. pose (with_ := fun F k j => if Z.eqb y (side left (z j (k * w + tick)%Z)) then clamp (2 ^ 64 * x j - IZR F) else 0).
        assert (Hwith : forall F k j, 0 <= with_ F k j <= 1) by (intros; unfold with_; destruct Z.eqb; [apply clamp_unit | lra]).
        transitivity (E (number 64) (fun F => E (number 1) (fun k => E (level_from 0) (with_ F k)))).
        + apply E_ext. intros F. unfold decide_tail. destruct (Z.leb_spec (2 ^ 26) F) as [HF|HF].
          * rewrite E_Ret. cbn [is_y some]. rewrite (number_ext 1 _ (fun _ => 0)); [now rewrite E_zero | | apply unit_zero |].
            { intros k. apply E_unit. intros j. apply Hwith. }
            intros k Hk. rewrite (E_ext _ _ (fun _ => 0)); [apply E_zero|]. intros j. unfold with_.
            destruct (Z.eqb_spec y (side left (z j (k * w + tick)%Z))) as [Hy|]; [|reflexivity].
            pose proof (tails_are_small left j (z j (k * w + tick)%Z) ltac:(unfold z; nia)) as Hs. rewrite <- Hy in Hs. fold (x j) in Hs.
            apply IZR_le in HF. rewrite <- pow_IZR with (n := 26%nat) in HF. clamps.
          * rewrite E_bind by apply unit_is_y. apply E_ext. intros k. rewrite E_bind by apply unit_is_y. apply E_ext. intros j.
            replace ((127 + 2 * Z.of_nat j + k) * w + tick)%Z with (z j (k * w + tick)%Z) by (unfold z; ring).
            rewrite if_yes_law, ask_yes. unfold with_. destruct (Z.eqb_spec y (side left (z j (k * w + tick)%Z))) as [->|]; [|reflexivity].
            unfold asked_of, x. f_equal. field.
        + rewrite E_swap by (intros F k; apply E_unit; intros j; apply Hwith). apply E_ext. intros k.
          rewrite E_swap by (intros F j; apply Hwith). apply E_ext. intros j. unfold with_, at_. destruct Z.eqb; [apply mean_clamp | apply E_zero]. }
    rewrite E_swap by (intros tick k; apply E_unit; intros j; apply Hu).
    pose proof (number_split 1 block_bits (fun u => E (level_from 0) (fun j => at_ j u)) ltac:(intros u; apply E_unit; intros j; apply Hu)) as Hsplit.
    fold w in Hsplit. rewrite <- Hsplit. clear Hsplit.
    rewrite number_law by (intros u; apply E_unit; intros j; apply Hu).
    set (o := out left y) in *. pose proof (Z.div_mod o (2 * w) ltac:(lia)) as Hd. pose proof (Z.mod_pos_bound o (2 * w) ltac:(lia)) as Hm.
    assert (Hz : forall j u, Z.eqb y (side left (z j u)) = Z.eqb o (2 * w * Z.of_nat j + u)).
    { intros j u. rewrite side_is. unfold o, out, z. destruct (Z.eqb_spec (side left y) ((127 + 2 * Z.of_nat j) * w + u)),
        (Z.eqb_spec (side left y - 127 * w) (2 * w * Z.of_nat j + u)); (reflexivity || lia). }
    assert (H2w : Z.of_nat (2 ^ (1 + block_bits)) = (2 * w)%Z) by (rewrite Nat.pow_add_r, Nat2Z.inj_mul, w_nat; reflexivity).
    destruct (Z.leb_spec 0 o) as [Ho|Ho].
    - pose proof (Z.div_pos o (2 * w) Ho ltac:(lia)) as Hq. set (j0 := Z.to_nat (o / (2 * w))).
      assert (Hj0 : Z.of_nat j0 = (o / (2 * w))%Z) by (unfold j0; lia).
      rewrite (total_ext _ (fun u => if Z.eqb (o mod (2 * w)) (0 + u) then x j0 * / 2 ^ S j0 else 0)).
      + rewrite pick, H2w. destruct (Z.leb_spec 0 (o mod (2 * w))), (Z.ltb_spec (o mod (2 * w)) (0 + 2 * w)); try lia. cbn [andb].
        unfold x. replace (1 + block_bits)%nat with (S block_bits) by lia. replace (j0 + 2)%nat with (S (S j0)) by lia. cbn [pow]. field.
        split; apply pow_nonzero; lra.
      + intros u Hu'. apply zs_in in Hu'. rewrite H2w in Hu'. rewrite Z.add_0_l. destruct (Z.eqb_spec (o mod (2 * w)) u) as [He|He].
        * rewrite (E_ext _ _ (fun j => x j0 * at_nat (0 + j0) j)).
          -- rewrite E_scal by apply unit_at. rewrite level_law, pow_inv. reflexivity.
          -- intros j. unfold at_, at_nat. rewrite Hz, Nat.add_0_l. destruct (Nat.eqb_spec j0 j) as [<-|Hj].
             ++ destruct (Z.eqb_spec o (2 * w * Z.of_nat j0 + u)) as [_|Hn]; [|exfalso; apply Hn; rewrite Hj0; lia].
                assert (Hs := tails_are_small left j0 (side left y) ltac:(unfold o, out in *; nia)). rewrite side_side in Hs. fold (x j0) in Hs.
                assert (x j0 <= 1). { apply Rmult_le_reg_l with (2 ^ 64); [apply two_pow|]. apply Rle_trans with (1 := Hs). rewrite Rmult_1_r. apply Rle_pow; [lra | lia]. }
                specialize (Hx j0). clamps.
             ++ destruct (Z.eqb_spec o (2 * w * Z.of_nat j + u)) as [Hn|]; [|ring]. exfalso. apply Hj, Nat2Z.inj. rewrite Hj0.
                symmetry. apply Z.div_unique with (r := u); lia.
        * rewrite (E_ext _ _ (fun _ => 0)); [apply E_zero|]. intros j. unfold at_. rewrite Hz.
          destruct (Z.eqb_spec o (2 * w * Z.of_nat j + u)) as [Hn|]; [|reflexivity]. exfalso. apply He. symmetry.
          apply Z.mod_unique with (q := Z.of_nat j); lia.
    - rewrite total_zero; [ring|]. intros u Hu'. apply zs_in in Hu'. rewrite (E_ext _ _ (fun _ => 0)); [apply E_zero|]. intros j. unfold at_. rewrite Hz.
      destruct (Z.eqb_spec o (2 * w * Z.of_nat j + u)) as [Hn|]; [nia | reflexivity].
  Qed.

  (* ---- the code of an integer, and what a position of a code returns ---- *)
  Definition home (y : Z) : Z := let left := (y <? 0)%Z in ((if left then 128 else 0) + Z.min 127 (side left y / w))%Z.
  Lemma home_in y : In (home y) codes.
  Proof.
    apply code_in. unfold home. pose proof w_pos. assert (0 <= side (y <? 0)%Z y / w)%Z by (apply Z.div_pos; [unfold side; destruct (Z.ltb_spec y 0); lia | lia]).
    destruct (y <? 0)%Z; lia.
  Qed.
  Lemma home_is y i : In i codes -> i = home y <-> let left := (128 <=? i)%Z in let h := (i mod 128)%Z in
    (h * w <= side left y)%Z /\ ((h < 127)%Z -> (side left y < h * w + w)%Z).
  Proof.
    intros Hi. apply code_range in Hi. pose proof w_pos as Hw. cbv zeta.
    set (left := (128 <=? i)%Z). set (h := (i mod 128)%Z).
    assert (Hih : i = ((if left then 128 else 0) + h)%Z /\ (0 <= h < 128)%Z).
    { unfold left, h. pose proof (Z.mod_pos_bound i 128 ltac:(lia)). split; [|lia]. destruct (Z.leb_spec 128 i).
      - pose proof (Z.mod_unique i 128 1 (i - 128)). lia.
      - rewrite Z.mod_small; lia. }
    destruct Hih as [Hih Hh]. unfold home. assert (Hs : left = (y <? 0)%Z <-> (0 <= side left y)%Z).
    { unfold side. destruct left, (Z.ltb_spec y 0); split; intros; try reflexivity; try discriminate; lia. }
    split.
    - intros He. assert (left = (y <? 0)%Z) as Hl.
      { rewrite Hih in He. assert (0 <= side (y <? 0)%Z y / w)%Z by (apply Z.div_pos; [unfold side; destruct (Z.ltb_spec y 0); lia | lia]).
        destruct left, (y <? 0)%Z; try reflexivity; lia. }
      rewrite <- Hl in He. pose proof (Z.div_mod (side left y) w ltac:(lia)). pose proof (Z.mod_pos_bound (side left y) w ltac:(lia)).
      assert (h = Z.min 127 (side left y / w)) by (destruct left; lia). split; [|intros]; nia.
    - intros [H1 H2]. assert (Hl : left = (y <? 0)%Z) by (apply Hs; nia). rewrite <- Hl. rewrite Hih at 1. f_equal.
      pose proof (Z.div_mod (side left y) w ltac:(lia)). pose proof (Z.mod_pos_bound (side left y) w ltac:(lia)).
      destruct (Z.eq_dec h 127) as [He|He].
      + assert (127 <= side left y / w)%Z by (apply Z.div_le_lower_bound; lia). lia.
      + assert (side left y / w = h)%Z by (symmetry; apply Z.div_unique with (r := (side left y - h * w)%Z); lia). lia.
  Qed.

  Definition found (code rel pieces tick : Z) : tree (option Z) :=
    of (if (code mod 128 =? 127)%Z then inr (decide_tail (128 <=? code)%Z tick) else decide code rel pieces tick).
  Definition share (y code rel pieces : Z) : R := E (number block_bits) (fun tick => E (found code rel pieces tick) (is_y y)).

  Lemma piece_law y i n : In i codes ->
    total (fun rel => share y i rel (Z.of_nat n)) (zs n) = INR n * (if Z.eqb i (home y) then IZR height * g l y / IZR (c i) / 2 ^ block_bits else 0).
  Proof.
    intros Hi. pose proof (home_is y i Hi) as Hhome. cbv zeta in Hhome. pose proof w_pos as Hw. pose proof (two_pow block_bits) as H2.
    pose proof (code_range i Hi) as Hr. pose proof (Z.mod_pos_bound i 128 ltac:(lia)) as Hh. unfold share, found.
    destruct (Z.eqb_spec (i mod 128) 127) as [Ht|Ht].
    - assert (Hc : IZR (c i) = 1).
      { pose proof (Z.div_mod i 128 ltac:(lia)) as Hdm. destruct (f_tails format) as [H127 H255].
        assert (i = 127 \/ i = 255)%Z as [-> | ->] by lia; [now rewrite H127 | now rewrite H255]. }
      apply total_const. intros rel. cbn [of].
      rewrite (E_ext _ _ (fun tick => E (number 64) (fun F => E (decide_tail (128 <=? i)%Z tick F) (is_y y)))) by (intros; apply E_bind, unit_is_y).
      rewrite tail_law. unfold out. destruct (Z.leb_spec 0 (side (128 <=? i)%Z y - 127 * w)), (Z.eqb_spec i (home y)) as [He|He]; try reflexivity.
      + rewrite Hc. field. lra.
      + exfalso. apply He, Hhome. rewrite Ht. lia.
      + exfalso. apply Hhome in He. rewrite Ht in He. lia.
    - set (h := (i mod 128)%Z) in *. set (left := (128 <=? i)%Z) in *. set (a := IZR height * g l y / IZR (c i)).
      assert (Hca := c_pos i Hi).
      assert (Hone : forall rel, E (number block_bits) (fun tick => E (of (decide i rel (Z.of_nat n) tick)) (is_y y)) =
        if Z.eqb i (home y) then / 2 ^ block_bits * clamp (INR n * a - IZR rel) else 0).
      { intros rel. rewrite number_law by (intros tick; apply E_unit, unit_is_y).
        rewrite (total_ext _ (fun tick => if Z.eqb (side left y) (h * w + tick) then clamp (INR n * a - IZR rel) else 0)).
        - rewrite pick, w_nat. destruct (Z.leb_spec (h * w) (side left y)), (Z.ltb_spec (side left y) (h * w + w)), (Z.eqb_spec i (home y)) as [He|He];
            cbn [andb]; try ring; exfalso; (apply Hhome in He; lia) || (apply He, Hhome; lia).
        - intros tick _. rewrite decide_law by exact Ht. fold h left. rewrite side_is. destruct Z.eqb; [|reflexivity].
          f_equal. unfold a. rewrite INR_IZR_INZ. unfold Rdiv. ring. }
      rewrite (total_ext _ (fun rel => (if Z.eqb i (home y) then / 2 ^ block_bits else 0) * clamp (INR n * a - IZR rel)))
        by (intros rel _; rewrite Hone; destruct Z.eqb; ring).
      rewrite total_scal, total_clamp. destruct (Z.eqb_spec i (home y)) as [He|He]; [|ring].
      assert (Ha : 0 <= a <= 1).
      { unfold a. pose proof (g_pos l y) as Hg. pose proof H_pos as HH. split; [apply Rdiv_le_0_compat; [left; now apply Rmult_lt_0_compat | lra]|].
        apply Rle_div_l; [lra|]. rewrite Rmult_1_l. apply Rle_trans with (2 := f_above format i Hi Ht). fold h left.
        apply Rmult_le_compat_l; [lra|]. rewrite <- (side_side left y). apply falls. apply Hhome in He. nia. }
      pose proof (pos_INR n). rewrite slabs_is by nra. rewrite Rmin_left by nra. fold a. field. lra.
  Qed.

  (* ---- an attempt ---- *)
  Lemma attempt_is F : unit_f F -> E attempt F =
    E (number 8) (fun row => E (number 16) (fun position => E (number block_bits) (fun tick => E (of (look_at row position tick)) F))).
  Proof.
    intros HF. unfold attempt, batches.attempt. rewrite E_bind by exact HF. cbn [Nat.add one_column]. unfold add_byte.
    rewrite E_bind by unit. rewrite E_bind by unit. apply E_ext. intros row. rewrite E_Ret.
    rewrite E_bind by unit. rewrite E_bind by unit. change 16%nat with (8 + 8)%nat.
    rewrite number_split by (intros p; apply E_unit; intros t; now apply E_unit). apply E_ext. intros high. rewrite E_Ret.
    rewrite E_bind by unit. rewrite E_bind by unit. apply E_ext. intros low. rewrite E_Ret.
    set (G := fun tick (rest : list Z) => match rest with
      | [low; high; row] => E (of (look_at row (256 * high + low) (tick / 2 ^ Z.of_nat (8 * planes - block_bits)))) F
      | _ => F None end).
    rewrite (E_ext _ _ (fun l => G (fst (tick_from planes l)) (snd (tick_from planes l)))).
    - rewrite tick_law by (intros t [|x1 [|x2 [|x3 [|x4 rest]]]]; cbn [G]; first [apply E_unit; exact HF | apply HF]).
      unfold G. replace (8 * planes)%nat with (block_bits + (8 * planes - block_bits))%nat at 1 by (pose proof (f_planes format); lia).
      rewrite (number_upper block_bits _ (fun tick => E (of (look_at row (256 * high + low) tick)) F)) by (intros t; now apply E_unit).
      now replace (high * 2 ^ Z.of_nat 8 + low)%Z with (256 * high + low)%Z by (change (2 ^ Z.of_nat 8)%Z with 256%Z; ring).
    - intros bytes. unfold alone, look, G, of. destruct (tick_from planes bytes) as [tick rest]. cbn [fst snd].
      destruct rest as [|x1 [|x2 [|x3 [|x4 rest]]]]; rewrite ?E_Ret; reflexivity.
  Qed.

  Lemma found_ends code rel pieces tick : E (found code rel pieces tick) (fun _ => 1) = 1.
  Proof.
    unfold found. destruct (code mod 128 =? 127)%Z.
    - cbn [of]. apply bind_ends; [apply number_ends|]. intros F. unfold decide_tail. destruct (2 ^ 26 <=? F)%Z; [now rewrite E_Ret|].
      apply bind_ends; [apply number_ends|]. intros k. apply bind_ends; [apply level_ends|]. intros j. apply if_yes_ends, ask_ends.
    - unfold decide. destruct Rle_dec; [cbn; now rewrite E_Ret|]. destruct Rle_dec; cbn [of]; [now rewrite E_Ret|].
      apply bind_ends; [apply number_ends|]. intros F. apply if_yes_ends, ask_ends.
  Qed.
  Lemma look_at_found row position tick : exists code rel pieces, of (look_at row position tick) = found code rel pieces tick.
  Proof. unfold look_at, found. eexists _, _, _. reflexivity. Qed.

  Lemma attempt_ends : E attempt (fun _ => 1) = 1.
  Proof.
    rewrite attempt_is by apply unit_one. rewrite (E_ext _ _ (fun _ => 1)); [apply number_ends|]. intros row.
    rewrite (E_ext _ _ (fun _ => 1)); [apply number_ends|]. intros position. rewrite (E_ext _ _ (fun _ => 1)); [apply number_ends|]. intros tick.
    destruct (look_at_found row position tick) as (code & rel & pieces & ->). apply found_ends.
  Qed.

  (* lemma 1 *)
  Theorem attempt_law y : E attempt (is_y y) = IZR height / 2 ^ (24 + block_bits) * g l y.
  Proof.
    rewrite attempt_is by apply unit_is_y.
    assert (Hu : forall row position, 0 <= E (number block_bits) (fun tick => E (of (look_at row position tick)) (is_y y)) <= 1)
      by (intros; apply E_unit; intros t; apply E_unit, unit_is_y).
    rewrite number_law by (intros row; apply E_unit; intros p; apply Hu).
    set (v := IZR height * g l y / IZR (c (home y)) / 2 ^ block_bits). change (zs (2 ^ 8)) with codes.
    rewrite (total_ext _ (fun row => / 2 ^ 16 * v * IZR ((if row =? home y then end_ row else 0) + (if alias row =? home y then POSITIONS - end_ row else 0))%Z)).
    - rewrite total_scal, <- IZR_sum, (r_shares filled) by apply home_in. unfold v. rewrite pow_add.
      pose proof (c_pos (home y) (home_in y)). pose proof (two_pow block_bits). field. lra.
    - intros row Hrow. rewrite number_law by (intros p; apply Hu). rewrite Rmult_assoc. f_equal.
      pose proof (r_end filled row Hrow) as He. pose proof (r_alias filled row Hrow) as Ha.
      assert (Hn : exists e e', (2 ^ 16 = e + e')%nat /\ Z.of_nat e = end_ row /\ Z.of_nat e' = (POSITIONS - end_ row)%Z).
      { exists (Z.to_nat (end_ row)), (Z.to_nat (POSITIONS - end_ row)). rewrite !Z2Nat.id by lia. split; [|split; reflexivity].
        apply Nat2Z.inj. rewrite Nat2Z.inj_pow, Nat2Z.inj_add, !Z2Nat.id by lia. unfold POSITIONS. change (Z.of_nat 2) with 2%Z. change (Z.of_nat 16) with 16%Z. lia. }
      destruct Hn as (e & e' & -> & Hend & Hrest). rewrite total_line.
      rewrite (total_ext _ (fun rel => share y row rel (Z.of_nat e)) (zs e)).
      + rewrite (total_ext _ (fun rel => share y (alias row) rel (Z.of_nat e')) (zs e')).
        * rewrite !piece_law by assumption. rewrite plus_IZR, Rmult_plus_distr_l, !INR_IZR_INZ, Hend, Hrest. unfold v.
          destruct (Z.eqb_spec row (home y)) as [H1|], (Z.eqb_spec (alias row) (home y)) as [H2|]; rewrite ?H2, ?H1; ring.
        * intros rel Hrel. apply zs_in in Hrel. unfold share, look_at, found. apply E_ext. intros tick.
          replace (end_ row <=? Z.of_nat e + rel)%Z with true by (symmetry; apply Z.leb_le; lia).
          replace (Z.of_nat e + rel - end_ row)%Z with rel by lia. now rewrite Hrest.
      + intros rel Hrel. apply zs_in in Hrel. unfold share, look_at, found. apply E_ext. intros tick.
        replace (end_ row <=? rel)%Z with false by (symmetry; apply Z.leb_gt; lia). now rewrite Hend.
  Qed.

  Theorem silent_law : has_law (weight l) draws.
  Proof.
    apply (has_law_scal (g l) (weight l) (weight l 0)).
    - apply exp_pos.
    - intros y. rewrite g_weight. field. apply Rgt_not_eq, exp_pos.
    - apply (again_has_law _ _ (IZR height / 2 ^ (24 + block_bits))).
      + apply Rdiv_lt_0_compat; [apply H_pos | apply two_pow].
      + intros y. apply g_pos.
      + exact attempt_ends.
      + exact attempt_law.
  Qed.

  (* n independent draws *)
  Theorem fill_law n_words size limit : (forall missing, (0 < missing -> 0 < size missing /\ 0 < limit missing <= missing)%nat) ->
    exists total, is_lim_seq (sum_g (weight l)) (Finite total) /\ 0 < total /\
    (forall ys, E (fill n_words size limit (length ys)) (product (map at_z ys)) = fold_right (fun y p => weight l y / total * p) 1 ys) /\
    forall n, E (fill n_words size limit n) (fun ys => if Nat.eqb (length ys) n then 1 else 0) = 1.
  Proof.
    intros Hsize. apply batches_law; [exact Hsize | exact attempt_ends | | exact silent_law].
    apply (succeeds attempt (g l) (IZR height / 2 ^ (24 + block_bits))).
    - apply Rdiv_lt_0_compat; [apply H_pos | apply two_pow].
    - intros y. apply g_pos.
    - exact attempt_law.
  Qed.
End Silent.

(* with rows as the code fills them *)
Theorem rows_fill l block_bits planes height c : facts l block_bits planes height c -> sum c codes = (2 ^ 24)%Z ->
  exists rs, rows_of c = Some rs /\ rows c (fun r => end_of (row_at rs r)) (fun r => alias_of (row_at rs r)).
Proof.
  intros F Hs. destruct (rows_right c (f_c _ _ _ _ _ F) Hs) as (rs & Hr & H1 & H2). exists rs. split; [exact Hr|].
  split; [intros r Hi; now apply H1 | intros r Hi; now apply H1 | exact H2].
Qed.

(* a law with f > 0 is drawn as its mirror image, and each draw negated *)
Definition mirror (l : law) : law := {| kind := kind l; s := s l; u := u l; k := - k l; d := d l |}.
Lemma mirrored l y : weight (mirror l) (- y) = weight l y.
Proof.
  unfold weight, phi, r. cbn [kind s u k d mirror]. rewrite !opp_IZR.
  replace (- IZR y - - IZR (k l) / IZR (d l)) with (- (IZR y - IZR (k l) / IZR (d l))) by (unfold Rdiv; ring). now rewrite Rabs_Ropp.
Qed.
Theorem mirrored_law l p : has_law (weight (mirror l)) p -> has_law (weight l) (bind p (fun y => Ret (- y)%Z)).
Proof.
  intros (total & L1 & L2 & L3 & L4). exists total. repeat split.
  - apply (is_lim_seq_ext (sum_g (weight (mirror l)))); [|exact L1]. intros n. induction n as [|n IH]; cbn [sum_g].
    + rewrite <- (mirrored l). reflexivity.
    + rewrite IH, <- (mirrored l (- _)), <- (mirrored l (Z.of_nat (S n))), Z.opp_involutive. ring.
  - exact L2.
  - intros y. rewrite E_bind by apply unit_at_z. rewrite <- (mirrored l y), <- L3. apply E_ext. intros z. rewrite E_Ret. unfold at_z.
    destruct (Z.eqb_spec y (- z)), (Z.eqb_spec (- y) z); (reflexivity || lia).
  - apply bind_ends; [exact L4|]. intros y. now rewrite E_Ret.
Qed.
