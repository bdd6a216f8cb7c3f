(* The checker with integers of any size as Coq's kernel computes with them. *)
From Coq Require Import ZArith List.
From Interval Require Import Float.Specific_bigint Float.Specific_ops.
From DG.cells Require Import checker.
Import ListNotations.
Module F := SpecificFloat BigIntRadix2.
Module Big := Checker F.
Definition precisions : list F.precision := map F.PtoP [64; 128; 512; 2048]%positive.
