import { nodeCryptoBrowserProofs } from '../../src/adapters/crypto/browser-proofs.ts';
import { describeBrowserProofs } from '../contracts/browser-proofs.contract.ts';

describeBrowserProofs('nodeCryptoBrowserProofs', nodeCryptoBrowserProofs);
