import { type Call, type Caller, ownerOf } from '../../kernel/caller'
import type { Trial } from '../../text'

/** Whom patterns are matched for, and the signal that ends the wait. */
export const trialOf = ({ caller, signal }: Pick<Call<Caller>, 'caller' | 'signal'>): Trial => ({
  who: caller.type === 'operator' ? 'operator' : ownerOf(caller),
  signal,
})
