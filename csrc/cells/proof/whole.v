(* A table with its arcs, from its bytes: `whole_ok precisions l m = true` implies that the draws as the code makes them, from the
   bytes m, with the arcs that lie there, have law l (facts 1 to 5). Left as a hypothesis: the bounds of refinements (lemma 12). *)
From Coq Require Import Reals Lra Lia ZArith List Bool.
From Coquelicot Require Import Coquelicot.
From Interval Require Import Float.Basic Float.Sig.
From DG.exact Require Import programs laws.
From DG.cells Require Import compare table rows law enclose curve parabola bytes checker arcs.
Import ListNotations.
Open Scope R_scope.

Definition unknown_arc : arc := {| base := 1; slope := 0; error := 65535; bulge := 0 |}.
Definition tail_levels : nat := 16.

Section Decider.
  (* the table, the bits of a tail block's number of arcs, the partial cells with their arcs, the tails' arcs *)
  Variables (t : table) (tab : Z) (pa : list (Z * Z * arc)) (ta : list arc).
  Let p := places t.
  Let wb := (tick_bits t + rest_bits t)%nat.
  Definition t_wide : Z := w wb.
  Definition t_tail : Z := W wb (tail_bits p).
  Definition t_after : Z := last1 (first_block p) (count p).
  Definition parts : Z := (2 ^ tab)%Z.
  Definition part : Z := (t_tail / parts)%Z.

  Definition core_stretch (j : Z) : stretch :=
    if (0 <=? j)%Z then {| start := j * t_wide; up := true; len := t_wide |}
    else {| start := j * t_wide + t_wide - 1; up := false; len := t_wide |}.
  (* number i parts + part of a side *)
  Definition tail_stretch (side : bool) (number : Z) : stretch :=
    if side then {| start := t_after * t_wide + number * part; up := true; len := part |}
    else {| start := first_block p * t_wide - 1 - number * part; up := false; len := part |}.

  Definition partial_arc (j level : Z) : arc :=
    match find (fun x => (fst (fst x) =? j)%Z && (snd (fst x) =? level)%Z) pa with
    | Some x => snd x
    | None => unknown_arc
    end.
  Definition tail_arc (side : bool) (number : Z) : arc :=
    nth (Z.to_nat ((if side then Z.of_nat tail_levels * parts else 0) + number)) ta unknown_arc.

  (* the arc that a draw at y of level i, in a cell of level n, is compared with, and the reach (dg_decide_at_once, decide_tail) *)
  Definition arc_at (i : nat) (y : Z) (n : nat) : arc * Z :=
    let j := (y / t_wide)%Z in
    if in_core p j then
      (match i with O => partial_arc j (Z.of_nat n) | S _ => unknown_arc end,
       reach (if (0 <=? j)%Z then y - j * t_wide else j * t_wide + t_wide - 1 - y) t_wide)
    else
      let side := (t_after * t_wide <=? y)%Z in
      let out := outwards wb (first_block p) (count p) side y in
      (if (out / t_tail =? Z.of_nat i)%Z && Nat.ltb i tail_levels && Nat.eqb n 0 then tail_arc side (out / part) else unknown_arc,
       reach (out mod part) part).

  Definition decider_with (lower upper : nat -> Z -> nat -> nat -> nat -> Z) : decider :=
    {| v_of := fun i y n => let '(a, q) := arc_at i y n in arc_height a q;
       error_of := fun i y n => error (fst (arc_at i y n));
       lower := lower; upper := upper |}.
End Decider.
Definition decider_of (m : memory) := decider_with (table_of m) (m_tail_arc_bits m) (m_partial m) (m_tail_arcs m).

Lemma unknown_says x q : arc_says x height_bits (arc_height unknown_arc q) (error unknown_arc).
Proof.
  replace (arc_height unknown_arc q) with 1%Z; [apply unknown_arc_says|].
  unfold arc_height, unknown_arc. cbn [base slope bulge]. rewrite !Z.mul_0_l. reflexivity.
Qed.

Module Whole (F : FloatOps with Definition radix := Zaux.radix2 with Definition sensible_format := true).
  Module Facts := Checker F.
  Module Fact3 := Arcs F.

  Section Check.
  Variables (l : law) (t : table) (tab : Z) (pa : list (Z * Z * arc)) (ta : list arc).
  Let p := places t.

  Definition stage : Type := F.precision * Fact3.N.I.type.
  Definition stages (precisions : list F.precision) : list stage := map (fun q => (q, Fact3.N.phi_zero_at q l)) precisions.
  Fixpoint arcs_ok (at_ : list stage) (st : stretch) (A : Z) (arcs : list (arc * Z)) : bool :=
    match at_ with
    | [] => false
    | (q, P0) :: at_ => if Fact3.stretch_ok q l st A P0 arcs then true else arcs_ok at_ st A arcs
    end.
  Definition of_block (j : Z) : list (arc * Z) :=
    map (fun x => (snd x, snd (fst x))) (filter (fun x => (fst (fst x) =? j)%Z) pa).
  Fixpoint all (f : Z -> bool) (list_ : list Z) : bool := match list_ with [] => true | z :: list_ => f z &&& all f list_ end.
  Definition core_arcs_ok (at_ : list stage) : bool :=
    all (fun k => let j := (first_block p + k)%Z in arcs_ok at_ (core_stretch t j) (65536 * height t) (of_block j)) (zs (count p)).
  Definition tail_arcs_ok (at_ : list stage) (side : bool) : bool :=
    all (fun i => all (fun k => let number := (i * parts tab + k)%Z in
      arcs_ok at_ (tail_stretch t tab side number) (65536 * (2 ^ i * height t)) [(tail_arc tab ta side number, 0%Z)])
      (zs (Z.to_nat (parts tab)))) (zs tail_levels).
  Definition all_arcs_ok (precisions : list F.precision) : bool :=
    let at_ := stages precisions in
    (part t tab * parts tab =? t_tail t)%Z &&& (0 <? parts tab)%Z
    &&& core_arcs_ok at_ &&& tail_arcs_ok at_ false &&& tail_arcs_ok at_ true.

  (* ---- proofs ---- *)
  Lemma all_right f zs_ : all f zs_ = true -> forall z, In z zs_ -> f z = true.
  Proof.
    induction zs_ as [|a zs_ IH]; intros H z Hz; [destruct Hz|]. simpl in H. apply both_true in H as [H1 H2].
    destruct Hz as [<-|Hz]; [exact H1 | now apply IH].
  Qed.
  Lemma in_zs z n : (0 <= z < Z.of_nat n)%Z -> In z (zs n).
  Proof. intros H. unfold zs. apply in_map_iff. exists (Z.to_nat z). split; [lia|]. apply in_seq. lia. Qed.

  Hypothesis valid_l : valid l = true.
  Hypothesis height_pos : (1 <= height t)%Z.
  Variable at_ : list stage.
  Hypothesis stages_right : forall s, In s at_ -> Fact3.N.holds (snd s) (phi l (r l 0)).

  Lemma arcs_ok_right st A arcs : (0 <= A)%Z -> (0 < len st)%Z -> arcs_ok at_ st A arcs = true ->
    forall a n, In (a, n) arcs -> forall o, (0 <= o < len st)%Z -> good l st A a n o.
  Proof.
    intros HA Hlen. revert stages_right. induction at_ as [|[q P0] rest IH]; intros Hs H; cbn [arcs_ok] in H; [discriminate|].
    destruct (Fact3.stretch_ok q l st A P0 arcs) eqn:Hq.
    - intros a n Ha o Ho. exact (Fact3.stretch_right q l st A P0 valid_l HA Hlen (Hs (q, P0) (or_introl eq_refl)) arcs Hq a n Ha o Ho).
    - apply IH; [intros x Hx; apply Hs; now right | exact H].
  Qed.

  Lemma asked_is i y n : 2 ^ height_bits * asked l t i y n = IZR (65536 * (2 ^ Z.of_nat i * height t)) * g l y - IZR (65536 * Z.of_nat n).
  Proof. unfold asked, height_bits. rewrite !mult_IZR, <- pow_IZR, <- INR_IZR_INZ. ring. Qed.

  Lemma good_says st a n i y o : y_at st o = y -> good l st (65536 * (2 ^ Z.of_nat i * height t)) a (Z.of_nat n) o ->
    arc_says (asked l t i y n) height_bits (arc_height a (reach o (len st))) (error a).
  Proof. intros <- H. unfold arc_says. rewrite asked_is. exact H. Qed.

  Theorem arcs_at_right lower upper : core_arcs_ok at_ = true -> tail_arcs_ok at_ false = true -> tail_arcs_ok at_ true = true ->
    (part t tab * parts tab = t_tail t)%Z -> (0 < parts tab)%Z -> (first_block p <= 0 < t_after t)%Z ->
    arcs_right l t (decider_with t tab pa ta lower upper).
  Proof.
    intros Hcore Hleft Hright Hparts Hparts0 Hzero i y n. unfold decider_with. cbn [v_of error_of].
    assert (Hw : (0 < t_wide t)%Z) by apply w_pos. assert (HW : (0 < t_tail t)%Z) by apply W_pos.
    assert (Hpart : (0 < part t tab)%Z) by nia.
    pose proof (Z.div_mod y (t_wide t) ltac:(lia)) as Hd. pose proof (Z.mod_pos_bound y (t_wide t) Hw) as Hm.
    unfold arc_at. destruct (in_core (places t) (y / t_wide t)) eqn:Hin.
    - cbn [fst]. destruct i as [|i]; [|apply unknown_says]. unfold partial_arc.
      destruct (find _ pa) as [x|] eqn:Hf; [|apply unknown_says].
      apply find_some in Hf. destruct Hf as [Hx Hy]. apply andb_true_iff in Hy as [H1 H2]. apply Z.eqb_eq in H1, H2.
      set (j := (y / t_wide t)%Z) in *. unfold in_core in Hin. rewrite andb_true_iff, Z.leb_le, Z.ltb_lt in Hin.
      pose proof (all_right _ _ Hcore (j - first_block p)%Z ltac:(apply in_zs; unfold p; lia)) as Hb.
      cbv beta zeta in Hb. replace (first_block p + (j - first_block p))%Z with j in Hb by lia.
      assert (Hg : In (snd x, Z.of_nat n) (of_block j)).
      { unfold of_block. apply in_map_iff. exists x. rewrite H2. split; [reflexivity|]. apply filter_In. split; [exact Hx | now apply Z.eqb_eq]. }
      set (st := core_stretch t j). assert (Hlen : len st = t_wide t) by (unfold st, core_stretch; destruct (0 <=? j)%Z; reflexivity).
      set (o := if (0 <=? j)%Z then (y - j * t_wide t)%Z else (j * t_wide t + t_wide t - 1 - y)%Z).
      assert (Ho : (0 <= o < len st)%Z) by (rewrite Hlen; unfold o; destruct (0 <=? j)%Z; nia).
      assert (Hyo : y_at st o = y) by (unfold y_at, st, core_stretch, o; destruct (0 <=? j)%Z; cbn [start up]; lia).
      assert (HG : good l st (65536 * (2 ^ Z.of_nat 0 * height t)) (snd x) (Z.of_nat n) o).
      { change (2 ^ Z.of_nat 0)%Z with 1%Z. rewrite Z.mul_1_l.
        apply (arcs_ok_right st _ (of_block j)); try assumption; [lia | rewrite Hlen; lia]. }
      pose proof (good_says st (snd x) n 0 y o Hyo HG) as HS. rewrite Hlen in HS. exact HS.
    - set (side := (t_after t * t_wide t <=? y)%Z). set (out := outwards _ _ _ side y). cbn [fst].
      destruct ((out / t_tail t =? Z.of_nat i)%Z && Nat.ltb i tail_levels && Nat.eqb n 0) eqn:Hc; [|apply unknown_says].
      apply andb_true_iff in Hc as [Hc Hn]. apply andb_true_iff in Hc as [Hi Hlev]. apply Z.eqb_eq in Hi. apply Nat.ltb_lt in Hlev. apply Nat.eqb_eq in Hn. subst n.
      assert (Hout : (0 <= out)%Z /\ y = (if side then t_after t * t_wide t + out else first_block p * t_wide t - 1 - out)%Z).
      { unfold out, outwards, side in *. unfold in_core in Hin. fold p in Hin.
        change (last1 (first_block (places t)) (count (places t))) with (t_after t).
        change (w (tick_bits t + rest_bits t)) with (t_wide t). fold p.
        assert (Ha : t_after t = (first_block p + Z.of_nat (count p))%Z) by reflexivity.
        rewrite andb_false_iff, Z.leb_gt, Z.ltb_ge in Hin. destruct (Z.leb_spec (t_after t * t_wide t) y); split; try lia; nia. }
      destruct Hout as [Hout Hy].
      set (number := (out / part t tab)%Z).
      pose proof (Z.div_mod out (part t tab) ltac:(lia)) as Hd1. pose proof (Z.mod_pos_bound out (part t tab) Hpart) as Hm1. fold number in Hd1.
      pose proof (Z.div_mod out (t_tail t) ltac:(lia)) as Hd2. pose proof (Z.mod_pos_bound out (t_tail t) HW) as Hm2.
      rewrite Hi in Hd2. set (o := (out mod part t tab)%Z) in *.
      assert (Hk : (0 <= number - Z.of_nat i * parts tab < parts tab)%Z).
      { rewrite <- Hparts in Hd2, Hm2. set (I := (Z.of_nat i * parts tab)%Z).
        assert (HI : (part t tab * parts tab * Z.of_nat i = part t tab * I)%Z) by (unfold I; ring). rewrite HI in Hd2. split.
        - destruct (Z.le_gt_cases I number) as [|Hlt]; [lia|]. assert (part t tab * (number + 1) <= part t tab * I)%Z by (apply Z.mul_le_mono_nonneg_l; lia). lia.
        - destruct (Z.lt_ge_cases number (I + parts tab)) as [|Hge]; [lia|]. assert (part t tab * (I + parts tab) <= part t tab * number)%Z by (apply Z.mul_le_mono_nonneg_l; lia). lia. }
      assert (Hall : tail_arcs_ok at_ side = true) by (destruct side; assumption).
      pose proof (all_right _ _ Hall (Z.of_nat i) ltac:(apply in_zs; lia)) as H1. cbv beta in H1.
      pose proof (all_right _ _ H1 (number - Z.of_nat i * parts tab)%Z ltac:(apply in_zs; lia)) as H2. cbv beta zeta in H2.
      replace (Z.of_nat i * parts tab + (number - Z.of_nat i * parts tab))%Z with number in H2 by lia.
      set (st := tail_stretch t tab side number) in *. assert (Hlen : len st = part t tab) by (unfold st, tail_stretch; destruct side; reflexivity).
      assert (Hyo : y_at st o = y) by (unfold y_at, st, tail_stretch; destruct side; cbn [start up]; fold p; lia).
      assert (HG : good l st (65536 * (2 ^ Z.of_nat i * height t)) (tail_arc tab ta side number) (Z.of_nat 0) o).
      { apply (arcs_ok_right st _ [(tail_arc tab ta side number, 0%Z)]); [nia | rewrite Hlen; lia | exact H2 | now left | rewrite Hlen; lia]. }
      pose proof (good_says st _ 0 i y o Hyo HG) as HS. rewrite Hlen in HS. exact HS.
  Qed.
  End Check.

  Definition whole_ok (l : law) (m : memory) (precisions : list F.precision) : bool :=
    let t := table_of m in
    memory_ok m &&& Facts.ok l t precisions &&& all_arcs_ok l t (m_tail_arc_bits m) (m_partial m) (m_tail_arcs m) precisions.

  Theorem whole_right precisions l m : whole_ok l m precisions = true ->
    forall lower upper, bounds_right l (table_of m) (decider_of m lower upper) ->
    has_law (weight l) (draws (table_of m) (decider_of m lower upper)).
  Proof.
    intros H lower upper Hb. unfold whole_ok in H. apply both_true in H as [H Har]. apply both_true in H as [_ Hok].
    unfold all_arcs_ok in Har. apply both_true in Har as [Har Hr]. apply both_true in Har as [Har Hl].
    apply both_true in Har as [Har Hc]. apply both_true in Har as [Hp Hp0].
    apply (Facts.ok_right precisions _ _ Hok); [exact Hb|].
    pose proof Hok as Hok'. unfold Facts.ok in Hok'. apply both_true in Hok' as [K _]. apply both_true in K as [K _]. apply both_true in K as [K _].
    apply both_true in K as [K _]. apply both_true in K as [K Hz]. apply both_true in K as [Hv Hh]. apply Z.leb_le in Hh.
    apply (arcs_at_right l _ _ _ _ Hv Hh (stages l precisions)); try assumption.
    - intros s Hs. unfold stages in Hs. rewrite in_map_iff in Hs. destruct Hs as (q & <- & _). now apply Fact3.N.phi_zero_right.
    - now apply Z.eqb_eq.
    - now apply Z.ltb_lt.
    - unfold in_core in Hz. rewrite andb_true_iff, Z.leb_le, Z.ltb_lt in Hz. exact Hz.
  Qed.
End Whole.
