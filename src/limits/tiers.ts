import { TIERS, type Tier } from '../kernel/caller'
import { type Static, t } from '../kernel/schema'

/** Modes are limited in groups (contract 1.6). */
const MODE_GROUPS = ['text', 'stealth', 'image', 'research', 'video'] as const
export type ModeGroup = (typeof MODE_GROUPS)[number]

export type TierLimits = { rpm: number; tpm: number; modes: Readonly<Record<ModeGroup, number>> }

const Limit = t.Integer({ minimum: 1, maximum: 1_000_000_000_000 })
const Plan = t.Partial(
  t.Object({ rpm: Limit, tpm: Limit, text: Limit, stealth: Limit, image: Limit, research: Limit, video: Limit }),
  { additionalProperties: false },
)
type Plan = Static<typeof Plan>

export const TierTable = t.Partial(t.Object({ free: Plan, starter: Plan, pro: Plan, enterprise: Plan }), {
  additionalProperties: false,
})
export type TierTable = Static<typeof TierTable>

/** Contract 1.6. The mode limits are the same fractions of the RPM in every tier, rounded down. */
const BUILT_IN: Record<Tier, { rpm: number; tpm: number }> = {
  free: { rpm: 60, tpm: 100_000 },
  starter: { rpm: 300, tpm: 500_000 },
  pro: { rpm: 1_000, tpm: 2_000_000 },
  enterprise: { rpm: 5_000, tpm: 10_000_000 },
}
const SHARES: Record<ModeGroup, number> = { text: 1, stealth: 2, image: 3, research: 4, video: 6 }

export type Tiers = ReturnType<typeof createTiers>

/** The tier table with the operator's overrides; a changed RPM also changes mode limits that were not set. */
export function createTiers(overrides: TierTable = {}) {
  const table = new Map(TIERS.map((tier) => [tier, limitsFrom({ ...BUILT_IN[tier], ...overrides[tier] })]))
  return {
    limitsOf: (tier: Tier): TierLimits => table.get(tier)!,
    /** Names of the limits that differ from the contract's, including those derived from an overridden RPM. */
    changedOf: (tier: Tier): string[] => {
      const builtIn = new Map(namesOf(limitsFrom(BUILT_IN[tier])))
      return namesOf(table.get(tier)!).flatMap(([name, limit]) => (builtIn.get(name) === limit ? [] : [name]))
    },
  }
}

const namesOf = ({ modes, ...rest }: TierLimits): [string, number][] => Object.entries({ ...rest, ...modes })

function limitsFrom({ rpm, tpm, ...set }: Plan & { rpm: number; tpm: number }): TierLimits {
  const limit = (group: ModeGroup) => set[group] ?? Math.max(1, Math.floor(rpm / SHARES[group]))
  const modes = {
    text: limit('text'),
    stealth: limit('stealth'),
    image: limit('image'),
    research: limit('research'),
    video: limit('video'),
  }
  return { rpm, tpm, modes }
}

/** The group a mode counts in. Code, documents and speech from their own endpoints count as text. */
export function groupOf(mode: string): ModeGroup {
  if (mode.startsWith('stealth_')) return 'stealth'
  return mode === 'image' || mode === 'research' || mode === 'video' ? mode : 'text'
}
