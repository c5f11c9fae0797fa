import type { ComponentProps } from 'react';

type FieldProps = ComponentProps<'input'> & { name: string; label: string; problem: string | undefined };

/** An input with its label, and what is wrong with its value. */
export const Field = ({ label, problem, ...input }: FieldProps) => {
  const id = `${input.name}-problem`;
  return (
    <p>
      <label>
        {label} <input {...input} aria-invalid={problem !== undefined} aria-describedby={id} />
      </label>{' '}
      <small id={id}>{problem}</small>
    </p>
  );
};
