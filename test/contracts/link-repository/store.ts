import type { LinkRepository } from '../../../src/application/ports/link-repository.ts';
import { LINK_PURPOSES, type LinkPurpose } from '../../../src/domain/link.ts';
import type { GivenRecords, RecordsStore } from '../records/store.ts';

export type LinkStore = RecordsStore<LinkRepository>;
export type GivenLinks = GivenRecords<LinkRepository>;

export const other = (purpose: LinkPurpose): LinkPurpose => LINK_PURPOSES.find((each) => each !== purpose) ?? purpose;
