import type { OwnerScope } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import type { Reader } from '../kernel/store'
import { spendOf } from '../usage'
import type { AccountLimitsOf } from './account-limits'
import { walletOf } from './repository'
import { assertWithinCaps, hasCaps } from './rules'

type Deps = { limits: AccountLimitsOf; clock: Clock }

/** Caps on everything an owner spends, in addition to those of each key (contract 1.9). */
export function createOwnerCaps({ limits, clock }: Deps) {
  return {
    /** Whether the owner has caps. Synchronous when the limits are cached. */
    hasCaps: (reader: Reader, owner: OwnerScope): boolean | Promise<boolean> => {
      const ownerLimits = limits.of(reader, owner)
      return ownerLimits instanceof Promise ? ownerLimits.then(({ caps }) => hasCaps(caps)) : hasCaps(ownerLimits.caps)
    },

    /**
     * Throws 402 when the spent amount, all holds of the wallet and `wanted` exceed a cap. `claimed` means that `wanted`
     * is among the holds already; then this transaction has locked the wallet and the numbers cannot change.
     */
    async assert(reader: Reader, owner: OwnerScope, wanted: number, claimed: boolean): Promise<void> {
      const { caps } = await limits.of(reader, owner)
      const { today, month } = await spendOf(reader, owner, clock.now())
      // Whoever has caps has a wallet: it is made with them.
      const [wallet] = await walletOf(reader, { id: owner })
      const held = wallet!.held - (claimed ? wanted : 0)
      const spend = { today: { ...today, held }, month: { ...month, held } }
      assertWithinCaps(owner.startsWith('org:') ? 'organization' : 'account', caps, spend, wanted)
    },
  }
}
