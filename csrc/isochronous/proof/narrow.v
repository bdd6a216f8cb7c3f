(* Narrow laws by inversion (PROOF.md, "Narrow laws", lemmas 23 and 24): a word is looked up among thresholds; what is
   behind them asks a comparison. `attempt` is to be read beside narrow.h and narrow.c.

   Proven: what a format must say (the hypotheses of Format, and `facts` of NarrowLaw for the three kinds of laws)
   implies that attempts, repeated until one succeeds, have the law, tails included, and end almost surely. That a
   count of thresholds finds the outcome is `threshold_search`. *)
From Coq Require Import Reals Lra Lia ZArith List Bool Arith.
From Coquelicot Require Import Coquelicot.
From DG.exact Require Import programs laws.
From DG.cells Require Import compare law.
Import ListNotations.
Open Scope R_scope.

(* ---- which of some runs of values a value lies in ---- *)
Inductive place := Whole (j : nat) | Rest (j : nat) | Tail (side : bool) (p : nat) | Again.

Fixpoint at_run (runs : list (place * nat)) (v : Z) : place :=
  match runs with
  | [] => Again
  | (c, n) :: runs => if (v <? Z.of_nat n)%Z then c else at_run runs (v - Z.of_nat n)
  end.
Fixpoint values (runs : list (place * nat)) : nat := match runs with [] => O | (_, n) :: runs => (n + values runs)%nat end.

Lemma zs_app n m : zs (n + m) = zs n ++ map (fun z => (Z.of_nat n + z)%Z) (zs m).
Proof.
  unfold zs. rewrite seq_app, map_app, map_map. f_equal.
  assert (H : forall s, map Z.of_nat (seq (n + s) m) = map (fun x => (Z.of_nat n + Z.of_nat x)%Z) (seq s m)).
  { induction m as [|m IH]; intros s; [reflexivity|]. cbn [seq map]. rewrite Nat2Z.inj_add, <- IH, Nat.add_succ_r. reflexivity. }
  specialize (H O). rewrite Nat.add_0_r in H. exact H.
Qed.

Lemma total_const {A} (f : A -> R) c l : (forall a, In a l -> f a = c) -> total f l = INR (length l) * c.
Proof.
  induction l as [|a l IH]; intros H; [simpl; ring|]. cbn [total length]. rewrite S_INR, (H a (or_introl eq_refl)), IH by (intros b Hb; apply H; now right).
  ring.
Qed.
Lemma zs_count n : length (zs n) = n.
Proof. unfold zs. now rewrite map_length, seq_length. Qed.

Lemma runs_total (f : place -> R) runs rest :
  total (fun v => f (at_run runs v)) (zs (values runs + rest)) = total (fun r => INR (snd r) * f (fst r)) runs + INR rest * f Again.
Proof.
  induction runs as [|[c n] runs IH].
  - cbn [values total Nat.add]. rewrite (total_const _ (f Again)) by reflexivity. rewrite zs_count. ring.
  - cbn [values total fst snd]. rewrite <- Nat.add_assoc, zs_app, total_app, total_map, Rplus_assoc. f_equal.
    { rewrite (total_const _ (f c)); [now rewrite zs_count|]. intros v Hv. apply zs_in in Hv. cbn [at_run]. destruct (Z.ltb_spec v (Z.of_nat n)); [reflexivity | lia]. }
    rewrite <- IH. apply total_ext. intros v Hv. apply zs_in in Hv. cbn [at_run].
    destruct (Z.ltb_spec (Z.of_nat n + v) (Z.of_nat n)); [lia|]. do 2 f_equal. lia.
Qed.

Lemma total_pick (q : nat -> R) y a n :
  total (fun j => if Z.eqb y (a + Z.of_nat j) then q j else 0) (seq 0 n) =
  if (a <=? y)%Z && (y <? a + Z.of_nat n)%Z then q (Z.to_nat (y - a)) else 0.
Proof.
  induction n as [|n IH].
  - simpl. destruct (Z.leb_spec a y), (Z.ltb_spec y (a + 0)); simpl; (reflexivity || lia).
  - rewrite seq_S, total_app, IH. cbn [total]. rewrite Nat.add_0_l.
    destruct (Z.leb_spec a y), (Z.ltb_spec y (a + Z.of_nat n)), (Z.ltb_spec y (a + Z.of_nat (S n))),
      (Z.eqb_spec y (a + Z.of_nat n)); simpl; try lia; try lra.
    replace (Z.to_nat (y - a)) with n by lia. lra.
Qed.

(* ---- thresholds ---- *)
Section Thresholds.
  Variable W : nat -> nat.
  Fixpoint T (k : nat) : Z := match k with O => 0%Z | S k => (T k + Z.of_nat (W k))%Z end.
  Lemma T_grows j k : (j <= k)%nat -> (T j <= T k)%Z.
  Proof. induction 1; cbn [T]; lia. Qed.

  Definition wholes_from s n : list (place * nat) := map (fun j => (Whole j, W j)) (seq s n).

  (* the outcome is the number of thresholds that are not above v *)
  Lemma search_from more n : forall s v, (T s <= v < T (s + n))%Z ->
    at_run (wholes_from s n ++ more) (v - T s) = Whole (s + length (filter (fun k => T k <=? v)%Z (seq (S s) (n - 1)))).
  Proof.
    induction n as [|n IH]; intros s v Hv; [rewrite Nat.add_0_r in Hv; lia|].
    unfold wholes_from. cbn [seq map app at_run]. fold (wholes_from (S s) n).
    replace (S n - 1)%nat with n by lia.
    destruct (Z.ltb_spec (v - T s) (Z.of_nat (W s))) as [H|H].
    - replace (filter _ _) with (@nil nat); [now rewrite Nat.add_0_r|].
      assert (Hn : forall l, (forall k, In k l -> (S s <= k)%nat) -> [] = filter (fun k => T k <=? v)%Z l).
      { induction l as [|k l IHl]; intros Hl; [reflexivity|]. cbn [filter]. pose proof (T_grows (S s) k (Hl k (or_introl eq_refl))) as Hk.
        cbn [T] in Hk. destruct (Z.leb_spec (T k) v); [lia|]. apply IHl. intros k' Hk'. apply Hl. now right. }
      apply Hn. intros k Hk. apply in_seq in Hk. lia.
    - replace (v - T s - Z.of_nat (W s))%Z with (v - T (S s))%Z by (cbn [T]; lia).
      rewrite IH by (cbn [T]; replace (S s + n)%nat with (s + S n)%nat by lia; lia).
      destruct n as [|n]; [replace (s + 1)%nat with (S s) in Hv by lia; cbn [T] in Hv; lia|].
      replace (S n - 1)%nat with n by lia. cbn [seq filter].
      replace (T (S s) <=? v)%Z with true by (symmetry; apply Z.leb_le; cbn [T]; lia).
      cbn [length]. f_equal. lia.
  Qed.
  Theorem threshold_search more n v : (0 <= v < T n)%Z ->
    at_run (wholes_from 0 n ++ more) v = Whole (length (filter (fun k => T k <=? v)%Z (seq 1 (n - 1)))).
  Proof. intros Hv. pose proof (search_from more n 0 v Hv) as H. cbn [T] in H. now rewrite Z.sub_0_r in H. Qed.
End Thresholds.

(* ---- an attempt ---- *)
Section Format.
  Variables (vb n : nat) (signed : bool) (least : Z) (m_right m_left : nat).
  Variable W : nat -> nat.
  Variable ask_rest : nat -> tree bool.          (* of an outcome: W + f' < C g *)
  Variable ask_tail : nat -> Z -> tree bool.     (* of a level and y: f' < 2^(level - 1) C g(y) *)

  Definition sign_bits : nat := if signed then 1 else 0.
  Definition outcome (j : nat) : Z := (least + Z.of_nat j)%Z.
  Definition first_right : Z := (least + Z.of_nat n)%Z.
  Definition first_left : Z := (1 - least)%Z.
  Definition tail_at (side : bool) (i p : nat) : Z :=
    if side then (first_right + Z.of_nat p + Z.of_nat i * Z.of_nat m_right)%Z
    else (- (first_left + Z.of_nat p + Z.of_nat i * Z.of_nat m_left))%Z.

  Definition tail_runs side m := map (fun p => (Tail side p, 4%nat)) (seq 0 m).
  Definition runs : list (place * nat) :=
    wholes_from W 0 n ++ map (fun j => (Rest j, 1%nat)) (seq 0 n) ++ tail_runs true m_right
    ++ (if signed then [] else tail_runs false m_left).

  Definition if_yes (y : Z) (ok : bool) : tree (option Z) := Ret (if ok then Some y else None).
  Definition settle (c : place) : tree (option Z) :=
    match c with
    | Whole j => Ret (Some (outcome j))
    | Rest j => if Z.eqb (outcome j) 0 then Ret None else bind (ask_rest j) (if_yes (outcome j))
    | Tail side p => bind (level_from 0) (fun i => bind (ask_tail i (tail_at side i p)) (if_yes (tail_at side i p)))
    | Again => Ret None
    end.
  Definition signed_as (sign : Z) (y : Z) : Z := if Z.eqb sign 1 then (- y)%Z else y.
  Definition from_word (word : Z) : tree (option Z) :=
    bind (settle (at_run runs (word / 2 ^ Z.of_nat sign_bits)))
      (fun o => Ret (option_map (signed_as (word mod 2 ^ Z.of_nat sign_bits)) o)).
  Definition attempt : tree (option Z) := bind (number (vb + sign_bits)) from_word.
  Definition draw : tree Z := again attempt.

  Variables (C : R) (g : Z -> R) (over : nat).
  Hypothesis C_pos : 0 < C.
  Hypothesis g_pos : forall y, 0 < g y.
  Hypothesis g_zero : g 0%Z = 1.
  Hypothesis zero_in : (least <= 0 < least + Z.of_nat n)%Z.
  Hypothesis m_pos : (0 < m_right)%nat /\ (0 < m_left)%nat.
  Hypothesis on_both_sides : signed = true -> least = 0%Z /\ forall y, g (- y)%Z = g y.
  Hypothesis W_zero : INR (W (Z.to_nat (- least))) = C / 2 ^ sign_bits.
  Hypothesis W_floor : forall j, (j < n)%nat -> outcome j <> 0%Z -> INR (W j) <= C * g (outcome j) <= INR (W j) + 1.
  Hypothesis room : (values runs + over = 2 ^ vb)%nat.
  Hypothesis tails_fit : forall (side : bool) (i p : nat), (p < (if side then m_right else m_left))%nat ->
    (signed = false \/ side = true) -> 2 ^ i * (C / 2 * g (tail_at side i p)) <= 1.
  Hypothesis rest_yes : forall j, E (ask_rest j) yes = clamp (C * g (outcome j) - INR (W j)).
  Hypothesis rest_ends : forall j, E (ask_rest j) (fun _ => 1) = 1.
  Hypothesis tail_yes : forall i y, E (ask_tail i y) yes = clamp (2 ^ i * (C / 2 * g y)).
  Hypothesis tail_ends : forall i y, E (ask_tail i y) (fun _ => 1) = 1.

  Lemma settle_ends c : E (settle c) (fun _ => 1) = 1.
  Proof.
    destruct c as [j|j|side p|]; cbn [settle]; try now rewrite E_Ret.
    - destruct (Z.eqb (outcome j) 0); [now rewrite E_Ret|]. apply bind_ends; [apply rest_ends|]. intros; unfold if_yes; now rewrite E_Ret.
    - apply bind_ends; [apply level_ends|]. intros i. apply bind_ends; [apply tail_ends|]. intros; unfold if_yes; now rewrite E_Ret.
  Qed.
  Lemma attempt_ends : E attempt (fun _ => 1) = 1.
  Proof.
    apply bind_ends; [apply number_ends|]. intros word. apply bind_ends; [apply settle_ends|]. intros; now rewrite E_Ret.
  Qed.

  Lemma if_yes_law t z y : E (bind t (if_yes z)) (is_y y) = if Z.eqb y z then E t yes else 0.
  Proof.
    rewrite E_bind by apply unit_is_y. rewrite (E_ext _ _ (fun ok => at_z y z * yes ok)).
    - rewrite E_scal by apply unit_yes. unfold at_z. destruct Z.eqb; lra.
    - intros [|]; unfold if_yes; rewrite E_Ret; simpl; lra.
  Qed.

  Definition share y c := E (settle c) (is_y y).
  (* the values of v that return y *)
  Definition given y := total (fun r => INR (snd r) * share y (fst r)) runs.

  Lemma outcomes_give y : total (fun r => INR (snd r) * share y (fst r)) (wholes_from W 0 n ++ map (fun j => (Rest j, 1%nat)) (seq 0 n)) =
    if (least <=? y)%Z && (y <? least + Z.of_nat n)%Z then (if Z.eqb y 0 then C / 2 ^ sign_bits else C * g y) else 0.
  Proof.
    rewrite total_app. unfold wholes_from. rewrite !total_map. cbn [fst snd].
    rewrite (total_ext _ (fun j => if Z.eqb y (least + Z.of_nat j) then INR (W j) else 0)).
    2: { intros j _. unfold share. cbn [settle]. rewrite E_Ret. cbn [is_y some]. unfold at_z, outcome. destruct Z.eqb; ring. }
    rewrite (total_ext (fun j => INR 1 * share y (Rest j))
      (fun j => if Z.eqb y (least + Z.of_nat j) then (if Z.eqb y 0 then 0 else clamp (C * g y - INR (W j))) else 0)).
    2: { intros j _. unfold share. cbn [settle]. fold (outcome j). simpl INR. rewrite Rmult_1_l.
         destruct (Z.eqb_spec (outcome j) 0) as [H0|H0].
         - rewrite E_Ret. cbn [is_y some]. destruct (Z.eqb_spec y (outcome j)) as [->|]; [|reflexivity]. rewrite H0. reflexivity.
         - rewrite if_yes_law. destruct (Z.eqb_spec y (outcome j)) as [->|]; [|reflexivity].
           destruct (Z.eqb_spec (outcome j) 0); [contradiction|]. apply rest_yes. }
    rewrite !total_pick. destruct (Z.leb_spec least y), (Z.ltb_spec y (least + Z.of_nat n)); simpl; try lra.
    destruct (Z.eqb_spec y 0) as [->|Hy]; [rewrite Z.sub_0_l, W_zero; lra|].
    pose proof (W_floor (Z.to_nat (y - least)) ltac:(lia)) as HW. unfold outcome in HW.
    replace (least + Z.of_nat (Z.to_nat (y - least)))%Z with y in HW by lia. specialize (HW Hy). clamps.
  Qed.

  Definition out (side : bool) y := if side then (y - first_right)%Z else (- y - first_left)%Z.
  Definition width (side : bool) := if side then m_right else m_left.

  Lemma tail_at_is side i p y : tail_at side i p = y <-> (Z.of_nat i * Z.of_nat (width side) + Z.of_nat p = out side y)%Z.
  Proof. unfold tail_at, out, width. destruct side; lia. Qed.

  Lemma share_tail side p y : (p < width side)%nat -> (signed = false \/ side = true) ->
    share y (Tail side p) =
      if (0 <=? out side y)%Z && Z.eqb (out side y mod Z.of_nat (width side)) (Z.of_nat p) then C * g y / 4 else 0.
  Proof.
    intros Hp Hs. assert (Hw : (0 < Z.of_nat (width side))%Z) by (unfold width; destruct side; lia).
    set (o := out side y) in *. set (w := Z.of_nat (width side)) in *.
    unfold share. cbn [settle]. rewrite E_bind by apply unit_is_y.
    rewrite (E_ext _ _ (fun i => if Z.eqb y (tail_at side i p) then E (ask_tail i (tail_at side i p)) yes else 0))
      by (intros i; apply if_yes_law).
    pose proof (Z.div_mod o w ltac:(lia)) as Hd. pose proof (Z.mod_pos_bound o w Hw) as Hm.
    destruct (Z.leb_spec 0 o) as [Ho|Ho]; cbn [andb].
    - pose proof (Z.div_pos o w Ho Hw) as Hq. set (i0 := Z.to_nat (o / w)).
      destruct (Z.eqb_spec (o mod w) (Z.of_nat p)) as [He|He].
      + assert (Hy : tail_at side i0 p = y) by (apply tail_at_is; fold w; fold o; unfold i0; rewrite Z2Nat.id by lia; nia).
        rewrite (E_ext _ _ (fun i => (2 ^ i0 * (C / 2 * g y)) * at_nat (0 + i0) i)).
        * rewrite E_scal by apply unit_at. rewrite level_law, <- tech_pow_Rmult, pow_inv. field. apply pow_nonzero. lra.
        * intros i. unfold at_nat. rewrite Nat.add_0_l. destruct (Nat.eqb_spec i0 i) as [<-|Hi].
          -- rewrite Hy, Z.eqb_refl, tail_yes. pose proof (tails_fit side i0 p Hp Hs) as HF. rewrite Hy in HF.
             assert (0 < 2 ^ i0 * (C / 2 * g y)) by (pose proof (g_pos y); pose proof (two_pow i0); repeat apply Rmult_lt_0_compat; lra).
             clamps.
          -- destruct (Z.eqb_spec y (tail_at side i p)) as [Hz|Hz]; [|lra]. exfalso. apply Hi. symmetry in Hz.
             apply tail_at_is in Hz. fold w o in Hz. apply Nat2Z.inj. unfold i0. rewrite Z2Nat.id by lia.
             symmetry. apply Z.div_unique with (r := Z.of_nat p); unfold w in *; lia.
      + rewrite (E_ext _ _ (fun _ => 0)); [apply E_zero|]. intros i.
        destruct (Z.eqb_spec y (tail_at side i p)) as [Hz|Hz]; [|reflexivity]. exfalso. apply He. symmetry in Hz.
        apply tail_at_is in Hz. fold w o in Hz. symmetry. apply Z.mod_unique with (q := Z.of_nat i); unfold w in *; lia.
    - rewrite (E_ext _ _ (fun _ => 0)); [apply E_zero|]. intros i.
      destruct (Z.eqb_spec y (tail_at side i p)) as [Hz|Hz]; [|reflexivity]. symmetry in Hz. apply tail_at_is in Hz.
      fold w o in Hz. nia.
  Qed.

  Lemma tail_gives side y : (signed = false \/ side = true) ->
    total (fun r => INR (snd r) * share y (fst r)) (tail_runs side (width side)) = if (0 <=? out side y)%Z then C * g y else 0.
  Proof.
    intros Hs. unfold tail_runs. rewrite total_map. cbn [fst snd].
    assert (Hw : (0 < Z.of_nat (width side))%Z) by (unfold width; destruct side; lia).
    pose proof (Z.mod_pos_bound (out side y) _ Hw) as Hm.
    rewrite (total_ext _ (fun p => if Z.eqb (out side y mod Z.of_nat (width side)) (0 + Z.of_nat p)
      then (if (0 <=? out side y)%Z then C * g y else 0) else 0)).
    - rewrite total_pick.
      destruct (Z.leb_spec 0 (out side y mod Z.of_nat (width side))), (Z.ltb_spec (out side y mod Z.of_nat (width side)) (0 + Z.of_nat (width side)));
        simpl; (reflexivity || lia).
    - intros p Hp. apply in_seq in Hp. rewrite share_tail by (lia || exact Hs). rewrite Z.add_0_l.
      destruct (0 <=? out side y)%Z, Z.eqb; simpl; lra.
  Qed.

  Lemma given_is y : given y =
    if Z.eqb y 0 then C / 2 ^ sign_bits else if signed && (y <? 0)%Z then 0 else C * g y.
  Proof.
    unfold given, runs. rewrite app_assoc, !total_app. rewrite <- total_app, outcomes_give.
    change m_right with (width true). rewrite tail_gives by now right.
    case_eq signed; intros Hs.
    - destruct (on_both_sides Hs) as [Hl _]. unfold out, first_right. cbn [total andb].
      destruct (Z.eqb_spec y 0), (Z.ltb_spec y 0), (Z.leb_spec least y), (Z.ltb_spec y (least + Z.of_nat n)),
        (Z.leb_spec 0 (y - (least + Z.of_nat n))); simpl; try lia; lra.
    - change m_left with (width false). rewrite tail_gives by now left. unfold out, first_right, first_left. cbn [andb].
      destruct (Z.eqb_spec y 0), (Z.leb_spec least y), (Z.ltb_spec y (least + Z.of_nat n)),
        (Z.leb_spec 0 (y - (least + Z.of_nat n))), (Z.leb_spec 0 (- y - (1 - least))); simpl; try lia; lra.
  Qed.

  Lemma values_give y : E (number vb) (fun v => share y (at_run runs v)) = given y / 2 ^ vb.
  Proof.
    rewrite number_law by (intros v; apply E_unit, unit_is_y). rewrite <- room.
    rewrite (runs_total (share y)). unfold given. replace (share y Again) with 0 by (unfold share; cbn [settle]; now rewrite E_Ret).
    field. apply pow_nonzero. lra.
  Qed.

  Lemma as_signed t sign y : E (bind t (fun o => Ret (option_map (signed_as sign) o))) (is_y y) =
    E t (is_y (if Z.eqb sign 1 then (- y)%Z else y)).
  Proof.
    rewrite E_bind by apply unit_is_y. apply E_ext. intros [z|]; rewrite E_Ret; [|reflexivity]. cbn. unfold at_z, signed_as.
    destruct (Z.eqb_spec sign 1); [|reflexivity]. destruct (Z.eqb_spec y (- z)), (Z.eqb_spec (- y) z); (reflexivity || lia).
  Qed.

  (* lemma 23 *)
  Theorem attempt_law y : E attempt (is_y y) = C / 2 ^ (vb + sign_bits) * g y.
  Proof.
    unfold attempt. rewrite E_bind by apply unit_is_y.
    rewrite (E_ext _ _ (fun word => E (settle (at_run runs (word / 2 ^ Z.of_nat sign_bits)))
      (is_y (if Z.eqb (word mod 2 ^ Z.of_nat sign_bits) 1 then (- y)%Z else y)))) by (intros word; apply as_signed).
    pose proof (given_is y) as Hy. pose proof (given_is (- y)) as Hy'. pose proof (values_give y) as Hv. pose proof (values_give (- y)) as Hv'.
    pose proof (two_pow vb) as H2. case_eq signed; intros Hs.
    - assert (Hb : sign_bits = 1%nat) by (unfold sign_bits; now rewrite Hs). rewrite Hs, Hb in Hy, Hy'. rewrite Hb.
      replace (vb + 1)%nat with (S vb) by lia. change (number (S vb)) with
        (bind (number vb) (fun h => Flip (fun c : bool => Ret (2 * h + (if c then 1 else 0))%Z))).
      change (2 ^ Z.of_nat 1)%Z with 2%Z.
      assert (Hu : unit_f (fun word => E (settle (at_run runs (word / 2))) (is_y (if Z.eqb (word mod 2) 1 then (- y)%Z else y))))
        by (intros word; apply E_unit, unit_is_y).
      rewrite E_bind by exact Hu.
      rewrite (E_ext _ _ (fun v => / 2 * share (- y) (at_run runs v) + / 2 * share y (at_run runs v))).
      + rewrite E_lin by (intros v; apply E_unit, unit_is_y). rewrite Hv, Hv'.
        destruct (on_both_sides Hs) as [_ Hg]. rewrite Hg in Hy'. rewrite Hy, Hy'. change (2 ^ S vb) with (2 * 2 ^ vb).
        destruct (Z.eqb_spec y 0) as [H0|H0]; cbn [andb].
        * rewrite H0, g_zero. simpl. field. lra.
        * destruct (Z.eqb_spec (- y) 0), (Z.ltb_spec y 0), (Z.ltb_spec (- y) 0); try lia; cbv iota; field; lra.
      + intros v. rewrite E_Flip by exact Hu. rewrite !E_Ret. unfold share.
        replace ((2 * v + 1) / 2)%Z with v by (apply Z.div_unique with (r := 1%Z); lia).
        replace ((2 * v + 1) mod 2)%Z with 1%Z by (apply Z.mod_unique with (q := v); lia).
        replace ((2 * v + 0) / 2)%Z with v by (apply Z.div_unique with (r := 0%Z); lia).
        replace ((2 * v + 0) mod 2)%Z with 0%Z by (apply Z.mod_unique with (q := v); lia). simpl Z.eqb. cbv iota. field.
    - assert (Hb : sign_bits = O) by (unfold sign_bits; now rewrite Hs). rewrite Hs, Hb in Hy. rewrite Hb.
      rewrite Nat.add_0_r. change (2 ^ Z.of_nat 0)%Z with 1%Z.
      rewrite (E_ext _ _ (fun v => share y (at_run runs v))).
      + rewrite Hv, Hy. destruct (Z.eqb_spec y 0) as [H0|]; cbn [andb]; [rewrite H0, g_zero; simpl|]; field; lra.
      + intros v. rewrite Z.div_1_r, Z.mod_1_r. reflexivity.
  Qed.

  Theorem format_law : has_law g draw.
  Proof.
    apply (again_has_law _ _ (C / 2 ^ (vb + sign_bits))).
    - apply Rdiv_lt_0_compat; [exact C_pos | apply two_pow].
    - exact g_pos.
    - exact attempt_ends.
    - intros y. apply attempt_law.
  Qed.
End Format.

(* ---- for the three kinds of laws, with the comparisons of dg_refine ---- *)
Section NarrowLaw.
  Variable l : law.
  Variables (vb n : nat) (signed : bool) (least : Z) (m_right m_left : nat) (W : nat -> nat) (height : Z) (over : nat).
  (* bounds of 2^level H g(y) - m, as compare.v asks for them *)
  Variables lower upper : nat -> Z -> Z -> nat -> nat -> Z.

  Let C : R := 2 ^ 32 * IZR height.
  Let y_of := outcome least.
  Definition asked_of (level : nat) (y m : Z) : R := 2 ^ level * (IZR height * g l y) - IZR m.
  Definition ask_rest_of (j : nat) : tree bool :=
    let W := Z.of_nat (W j) in refine 64 (lower 0 (y_of j) (W / 2 ^ 32)) (upper 0 (y_of j) (W / 2 ^ 32)) 0 32 (W mod 2 ^ 32).
  Definition ask_tail_of (i : nat) (y : Z) : tree bool := refine 64 (lower (31 + i) y 0) (upper (31 + i) y 0) 0 0 0.
  Definition draws : tree Z := draw vb n signed least m_right m_left W ask_rest_of ask_tail_of.

  (* what build_narrow.c ensures of the format *)
  Record facts : Prop := {
    f_valid : valid l = true;
    f_height : (0 < height < 2 ^ 32)%Z;
    f_zero_in : (least <= 0 < least + Z.of_nat n)%Z;
    f_signed : signed = true -> least = 0%Z /\ k l = 0%Z;
    f_zero : INR (W (Z.to_nat (- least))) = C / 2 ^ sign_bits signed;
    f_floor : forall j, (j < n)%nat -> y_of j <> 0%Z -> INR (W j) <= C * g l (y_of j) <= INR (W j) + 1;
    f_room : (values (runs n signed m_right m_left W) + over = 2 ^ vb)%nat;
    f_right : g l (first_right n least) <= / 2 ^ 63 /\ (first_right n least <= 63 * Z.of_nat m_right)%Z;
    f_left : signed = false -> g l (- first_left least)%Z <= / 2 ^ 63 /\ (first_left least <= 63 * Z.of_nat m_left)%Z;
    f_left_pos : (0 < m_left)%nat
  }.
  Hypothesis format : facts.
  Hypothesis bounds_hold : forall level y m j b,
    IZR (lower level y m j b) <= 2 ^ b * asked_of level y m <= IZR (upper level y m j b).
  Hypothesis bounds_narrow : forall level y m b, exists j0, forall j, (j0 <= j)%nat -> (upper level y m j b - lower level y m j b <= 2)%Z.

  Lemma C_is_pos : 0 < C.
  Proof. unfold C. destruct (f_height format) as [H _]. apply IZR_lt in H. pose proof (two_pow 32). now apply Rmult_lt_0_compat. Qed.
  Lemma C_half : C / 2 <= 2 ^ 63.
  Proof.
    unfold C. destruct (f_height format) as [_ H]. apply IZR_lt in H. rewrite <- pow_IZR with (n := 32%nat) in H.
    pose proof (two_pow 32). replace (2 ^ 63) with (2 ^ 32 * 2 ^ 32 / 2) by field. nra.
  Qed.

  (* lemma 24: beyond the outcomes C g halves from one level to the next, at least *)
  Lemma halves y step : (1 <= y /\ 0 < step \/ y <= -1 /\ step < 0)%Z -> g l y <= / 2 ^ 63 ->
    (Z.abs y <= 63 * Z.abs step)%Z -> forall i, 2 ^ i * (C / 2 * g l (y + Z.of_nat i * step)) <= 1.
  Proof.
    intros Hside Hy Hstep i. pose proof (f_valid format) as Hv. pose proof C_is_pos as HC.
    assert (H63 : phi l (r l y) - phi l (r l 0) >= 63 * ln 2).
    { apply Rle_ge, Rnot_lt_le. intros Hlt.
      assert (H2 : exp (- (63 * ln 2)) = / 2 ^ 63).
      { rewrite exp_Ropp. f_equal. rewrite <- (Rpower_pow 63) by lra. unfold Rpower. do 2 f_equal. simpl. lra. }
      assert (exp (- (63 * ln 2)) < g l y) by (apply exp_increasing; lra). lra. }
    apply tail_halves; [exact Hv | lra | exact Hside | |].
    - apply Rle_trans with (2 ^ 63 * / 2 ^ 63); [|right; field].
      apply Rmult_le_compat; [lra | left; apply g_pos | exact C_half | exact Hy].
    - assert (Hln : 0 < ln 2) by (rewrite <- ln_1; apply ln_increasing; lra).
      assert (Hfar : (1 <= Z.abs y)%Z) by lia. apply IZR_le in Hfar. apply IZR_le in Hstep. rewrite mult_IZR in Hstep.
      assert (Hr0 : 0 <= r l 0) by apply r_nonneg. assert (Hr : 0 <= r l y) by apply r_nonneg.
      assert (Hrr : r l y - r l 0 <= IZR (Z.abs y)).
      { unfold r. rewrite <- Rabs_Zabs. pose proof (Rabs_triang_inv (IZR y - IZR (k l) / IZR (d l)) (0 - IZR (k l) / IZR (d l))) as Ht.
        replace (IZR y - IZR (k l) / IZR (d l) - (0 - IZR (k l) / IZR (d l))) with (IZR y) in Ht by ring. exact Ht. }
      assert (Hpos : 0 < r l y).
      { destruct (Rle_lt_or_eq_dec 0 (r l y) Hr) as [|H0]; [assumption|]. exfalso.
        pose proof (phi_zero l Hv) as Hz. rewrite <- H0, Hz in H63. pose proof (phi_nonneg l Hv (r l 0) Hr0). lra. }
      destruct (tangent l Hv (r l y) Hpos) as (p & Hp & Ht).
      pose proof (Ht (r l 0) Hr0) as H0. pose proof (r_steps l Hv y step 1 Hside) as Hs.
      simpl INR in Hs. rewrite Rmult_1_l in Hs. replace (y + Z.of_nat 1 * step)%Z with (y + step)%Z in Hs by lia.
      assert (HA : 0 < IZR (Z.abs step)) by (apply IZR_lt; lia).
      pose proof (Ht (r l (y + step)) ltac:(lra)) as H1. rewrite Hs in H1. rewrite Hs.
      assert (Hgain : ln 2 <= p * IZR (Z.abs step)).
      { assert (63 * ln 2 <= p * IZR (Z.abs y)) by nra. assert (p * IZR (Z.abs y) <= p * (63 * IZR (Z.abs step))) by (apply Rmult_le_compat_l; lra). lra. }
      apply Rle_trans with (exp (- ln 2)); [apply exp_le; lra|]. rewrite exp_Ropp, exp_ln by lra. lra.
  Qed.

  Lemma tails_are_small (side : bool) (i p : nat) : (p < (if side then m_right else m_left))%nat -> (signed = false \/ side = true) ->
    2 ^ i * (C / 2 * g l (tail_at n least m_right m_left side i p)) <= 1.
  Proof.
    intros Hp Hs. pose proof (f_zero_in format) as Hz. pose proof (f_valid format) as Hv. unfold tail_at, first_right, first_left.
    destruct side.
    - destruct (f_right format) as [Hg Hm]. unfold first_right in *.
      apply Rle_trans with (2 ^ i * (C / 2 * g l (least + Z.of_nat n + Z.of_nat i * Z.of_nat m_right))).
      + apply Rmult_le_compat_l; [left; apply two_pow|]. apply Rmult_le_compat_l; [pose proof C_is_pos; lra|].
        apply g_falls; [exact Hv|]. apply dist_up; [exact Hv | lia].
      + apply halves; [left; lia | exact Hg | lia].
    - destruct Hs as [Hs|Hs]; [|discriminate]. destruct (f_left format Hs) as [Hg Hm]. unfold first_left in *.
      apply Rle_trans with (2 ^ i * (C / 2 * g l (- (1 - least) + Z.of_nat i * - Z.of_nat m_left))).
      + apply Rmult_le_compat_l; [left; apply two_pow|]. apply Rmult_le_compat_l; [pose proof C_is_pos; lra|].
        apply g_falls; [exact Hv|]. apply dist_down; [exact Hv | lia].
      + apply halves; [right; lia | exact Hg | lia].
  Qed.

  Lemma rest_of_law j : E (ask_rest_of j) yes = clamp (C * g l (y_of j) - INR (W j)) /\ E (ask_rest_of j) (fun _ => 1) = 1.
  Proof.
    unfold ask_rest_of. set (m := (Z.of_nat (W j) / 2 ^ 32)%Z). set (f := (Z.of_nat (W j) mod 2 ^ 32)%Z).
    replace (C * g l (y_of j) - INR (W j)) with (2 ^ 32 * asked_of 0 (y_of j) m - IZR f).
    - apply refine_law; [intros; apply bounds_hold | lia | intros; apply bounds_narrow].
    - unfold asked_of, C. rewrite INR_IZR_INZ, (Z.div_mod (Z.of_nat (W j)) (2 ^ 32)) by lia. fold m f.
      rewrite plus_IZR, mult_IZR, <- pow_IZR with (n := 32%nat). simpl (2 ^ 0). ring.
  Qed.
  Lemma tail_of_law i y : E (ask_tail_of i y) yes = clamp (2 ^ i * (C / 2 * g l y)) /\ E (ask_tail_of i y) (fun _ => 1) = 1.
  Proof.
    unfold ask_tail_of. replace (2 ^ i * (C / 2 * g l y)) with (2 ^ 0 * asked_of (31 + i) y 0 - IZR 0).
    - apply refine_law; [intros; apply bounds_hold | lia | intros; apply bounds_narrow].
    - unfold asked_of, C. rewrite pow_add. simpl (2 ^ 0). field.
  Qed.

  (* lemmas 23 and 24: nothing is cut off, and there is no normalising constant *)
  Theorem narrow_law : has_law (weight l) draws.
  Proof.
    pose proof (f_valid format) as Hv.
    assert (Hg1 : g l 0 = 1) by (apply g_one; [exact Hv | reflexivity]).
    apply (has_law_scal (g l) (weight l) (weight l 0)).
    - apply exp_pos.
    - intros y. rewrite g_weight. field. apply Rgt_not_eq, exp_pos.
    - unfold draws. apply (format_law vb n signed least m_right m_left W ask_rest_of ask_tail_of C (g l) over).
      + exact C_is_pos.
      + intros y. apply g_pos.
      + exact Hg1.
      + apply (f_zero_in format).
      + split; [|apply (f_left_pos format)]. destruct (f_right format) as [_ H]. pose proof (f_zero_in format). unfold first_right in H. lia.
      + intros Hs. destruct (f_signed format Hs) as [Hl Hk]. split; [exact Hl|]. intros y. unfold g. rewrite !r_is by exact Hv.
        replace (dist l (- y)) with (dist l y); [reflexivity|].
        unfold dist. rewrite Hk, !Z.sub_0_r, Z.mul_opp_l, Z.abs_opp. reflexivity.
      + apply (f_zero format).
      + apply (f_floor format).
      + apply (f_room format).
      + exact tails_are_small.
      + intros j. apply rest_of_law.
      + intros j. apply rest_of_law.
      + intros i y. apply tail_of_law.
      + intros i y. apply tail_of_law.
  Qed.
End NarrowLaw.
