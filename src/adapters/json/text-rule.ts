import * as v from 'valibot';
import type { FieldCode } from '../../domain/errors/app-error.ts';

/** What a value breaks. */
type Broken = { readonly code: FieldCode; readonly message: string };

/** A rule about a field that valibot does not have. `received` takes its code to the details of the error. @param check `null`: it is kept. */
export const fieldRule = <Input>(check: (value: Input) => Broken | null) =>
  v.rawCheck<Input>(({ dataset, addIssue }) => {
    const broken = dataset.typed ? check(dataset.value) : null;
    if (broken !== null) addIssue({ received: broken.code, message: broken.message });
  });

export const textRule = fieldRule<string>;
