/** Whether PostgreSQL can store a text: it rejects NUL, and a lone surrogate has no UTF-8 encoding. */
export const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed();
