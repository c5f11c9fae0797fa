import { aesGcmFactorSecrets } from '../../src/adapters/factor-secrets/aes-gcm.ts';
import { describeFactorSecrets } from '../contracts/factor-secrets.contract.ts';
import { factorKeys } from '../support/factor-keys.ts';

describeFactorSecrets('aesGcmFactorSecrets', (keys) => aesGcmFactorSecrets(factorKeys(keys)));
