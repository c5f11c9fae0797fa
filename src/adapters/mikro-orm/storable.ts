/** PostgreSQL refuses a NUL in a text, and a lone surrogate has no UTF-8 form. */
export const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed();
