(* A fill from a table (PROOF.md, lemma 24): what `attempt_read` (table.v) reads, as the stages in which draw_batch (draw.c)
   reads it for a whole batch: rows, ticks, positions of mixed rows, heights of special cells, rests, and what the
   decisions read. Draws that fail have their turn in the next round (fills.v). *)
From Coq Require Import Reals Lra Lia ZArith List Bool Arith.
From Coquelicot Require Import Coquelicot.
From DG.exact Require Import programs laws fills.
From DG.cells Require Import compare table.
Import ListNotations.
Open Scope R_scope.

Record reading := { row_of : Z; tick_of : Z; found_of : found; height_of : Z; rest_of : Z; result_of : option Z }.
Definition nothing_read : reading :=
  {| row_of := 0; tick_of := 0; found_of := Coded 0; height_of := 0; rest_of := 0; result_of := None |}.

Section Fill.
  Variables (row_bits tick_bits rest_bits height_bits tb : nat) (first : Z) (count : nat).
  Variable look : Z -> tree found.
  Variable compare_at : nat -> Z -> nat -> Z -> tree bool.
  Variable batch : nat.

  Let wb := (tick_bits + rest_bits)%nat.
  Definition read_row (s : reading) : tree reading := bind (number row_bits) (fun row =>
    Ret {| row_of := row; tick_of := tick_of s; found_of := found_of s; height_of := height_of s; rest_of := rest_of s; result_of := result_of s |}).
  Definition read_tick (s : reading) : tree reading := bind (number tick_bits) (fun tick =>
    Ret {| row_of := row_of s; tick_of := tick; found_of := found_of s; height_of := height_of s; rest_of := rest_of s; result_of := result_of s |}).
  Definition look_up (s : reading) : tree reading := bind (look (row_of s)) (fun r =>
    Ret {| row_of := row_of s; tick_of := tick_of s; found_of := r; height_of := height_of s; rest_of := rest_of s; result_of := result_of s |}).
  Definition read_height (s : reading) : tree reading :=
    match found_of s with
    | Coded _ => Ret s
    | Special _ => bind (number height_bits) (fun F =>
      Ret {| row_of := row_of s; tick_of := tick_of s; found_of := found_of s; height_of := F; rest_of := rest_of s; result_of := result_of s |})
    end.
  Definition read_rest (s : reading) : tree reading := bind (number rest_bits) (fun rest =>
    Ret {| row_of := row_of s; tick_of := tick_of s; found_of := found_of s; height_of := height_of s; rest_of := rest; result_of := result_of s |}).
  Definition settle (s : reading) : tree reading :=
    let low := low_bits rest_bits (tick_of s) (rest_of s) in
    bind (match found_of s with
          | Coded j => Ret (Some (j * w wb + low)%Z)
          | Special c => inner_at tick_bits rest_bits tb first count compare_at (height_of s) c low
          end) (fun o =>
    Ret {| row_of := row_of s; tick_of := tick_of s; found_of := found_of s; height_of := height_of s; rest_of := rest_of s; result_of := o |}).
  Definition stages := [read_row; read_tick; look_up; read_height; read_rest; settle].
  Definition fill_read (n : nat) : tree (list Z) := fill stages nothing_read result_of batch n.

  Lemma attempt_is f : unit_f f ->
    E (fills.attempt stages nothing_read result_of) f =
    E (attempt_read row_bits tick_bits rest_bits height_bits tb first count look compare_at) f.
  Proof.
    intros Hf. unfold fills.attempt, one, stages, attempt_read. cbn [one_of]. rewrite !E_bind by unit.
    unfold read_row, nothing_read. rewrite !E_bind by unit. apply E_ext. intros row. rewrite E_Ret. cbn [tick_of found_of height_of rest_of result_of row_of].
    rewrite !E_bind by unit. unfold read_tick. rewrite !E_bind by unit. apply E_ext. intros tick. rewrite E_Ret. cbn [tick_of found_of height_of rest_of result_of row_of].
    rewrite !E_bind by unit. unfold look_up. rewrite !E_bind by unit. apply E_ext. intros r. rewrite E_Ret. cbn [tick_of found_of height_of rest_of result_of row_of].
    rewrite !E_bind by unit. unfold read_height. cbn [found_of]. destruct r as [j|c].
    - rewrite E_Ret. rewrite !E_bind by unit. unfold read_rest. rewrite !E_bind by unit. apply E_ext. intros rest. rewrite E_Ret.
      cbn [tick_of found_of height_of rest_of result_of row_of]. rewrite !E_bind by unit. unfold settle.
      cbn [tick_of found_of height_of rest_of result_of row_of]. rewrite !E_bind by unit. rewrite !E_Ret. cbn [result_of]. now rewrite ?E_Ret.
    - rewrite !E_bind by unit. apply E_ext. intros F. rewrite E_Ret. cbn [tick_of found_of height_of rest_of result_of row_of].
      rewrite !E_bind by unit. unfold read_rest. rewrite !E_bind by unit. apply E_ext. intros rest. rewrite E_Ret.
      cbn [tick_of found_of height_of rest_of result_of row_of]. rewrite !E_bind by unit. unfold settle.
      cbn [tick_of found_of height_of rest_of result_of row_of]. rewrite !E_bind by unit. apply E_ext. intros o. rewrite !E_Ret. cbn [result_of]. now rewrite ?E_Ret.
  Qed.

  Variable g : Z -> R.
  Hypothesis ends : E (attempt_read row_bits tick_bits rest_bits height_bits tb first count look compare_at) (fun _ => 1) = 1.
  Hypothesis succeeds : 0 < E (attempt_read row_bits tick_bits rest_bits height_bits tb first count look compare_at) (some (fun _ => 1)).
  Hypothesis law : has_law g (draw_read row_bits tick_bits rest_bits height_bits tb first count look compare_at).

  Theorem fill_read_law : exists total, is_lim_seq (sum_g g) (Finite total) /\ 0 < total /\
    (forall ys, E (fill_read (length ys)) (product (map at_z ys)) = fold_right (fun y p => g y / total * p) 1 ys) /\
    forall n, E (fill_read n) (fun l => if Nat.eqb (length l) n then 1 else 0) = 1.
  Proof.
    assert (He : E (fills.attempt stages nothing_read result_of) (fun _ => 1) = 1) by (rewrite attempt_is by apply unit_one; exact ends).
    assert (Hs : 0 < E (fills.attempt stages nothing_read result_of) (some (fun _ => 1)))
      by (rewrite attempt_is by apply unit_some, unit_one; exact succeeds).
    apply fill_law; [exact He | exact Hs|]. destruct law as (total & L1 & L2 & L3 & _). exists total. repeat split; [exact L1 | exact L2 | | now apply again_ends].
    intros y. rewrite <- L3. unfold draw_read. rewrite !again_law by (assumption || apply unit_at_z).
    now rewrite !attempt_is by (apply unit_some; apply unit_at_z || apply unit_one).
  Qed.
End Fill.
