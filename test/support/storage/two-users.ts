import { memoryStorage } from '../../../src/adapters/records/memory.ts';
import { anId, aUser } from '../builders.ts';

/** Makes a storage in memory with two users. */
export const storageOfTwo = async () => {
  const storage = memoryStorage();
  const [user, other] = [aUser(), aUser()];
  for (const each of [user, other]) await storage.users.add(each);
  return { ...storage, owner: user.id, otherUser: other.id, stranger: anId() };
};
