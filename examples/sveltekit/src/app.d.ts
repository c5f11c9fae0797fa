import type { User } from 'tandem-client';

declare global {
  namespace App {
    interface Locals {
      /** On the pages below `(users)`. */
      user: User;
    }
  }
}
