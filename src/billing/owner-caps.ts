import type { OwnerScope } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import type { Reader } from '../kernel/store'
import { spendOf } from '../usage'
import type { AccountLimitsOf } from './account-limits'
import { walletOf } from './repository'
import { assertWithinCaps, hasCaps } from './rules'

type Deps = { limits: AccountLimitsOf; clock: Clock }

export type OwnerCaps = ReturnType<typeof createOwnerCaps>

/** Caps on everything an owner spends, besides those of each key (contract 1.9). */
export function createOwnerCaps({ limits, clock }: Deps) {
  return {
    /** At once, and false, for an owner without caps whose limits are remembered. */
    apply: (reader: Reader, owner: OwnerScope): boolean | Promise<boolean> => {
      const known = limits.of(reader, owner)
      return known instanceof Promise ? known.then(({ caps }) => hasCaps(caps)) : hasCaps(known.caps)
    },

    /**
     * Throws 402 when the spent, all that is on hold in the wallet and `wanted` pass a cap. `claimed` says
     * that `wanted` is on hold already: then the wallet's row is ours, and nothing moves before the commit.
     */
    async assert(reader: Reader, owner: OwnerScope, wanted: number, claimed: boolean): Promise<void> {
      const { caps } = await limits.of(reader, owner)
      const { today, month } = await spendOf(reader, owner, clock.now())
      const held = ((await walletOf(reader, { id: owner }))[0]?.held ?? 0) - (claimed ? wanted : 0)
      const spend = { today: { ...today, held }, month: { ...month, held } }
      assertWithinCaps(owner.startsWith('org:') ? 'organization' : 'account', caps, spend, wanted)
    },
  }
}
