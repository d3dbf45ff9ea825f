import type { Loop } from '../kernel/loop'
import { startHoldRecovery } from './abandoned-loop'
import { startExpiryLoop } from './expiry-loop'
import type { Billing } from './service'

type Deps = Omit<Parameters<typeof startHoldRecovery>[0], 'release'> & { billing: Pick<Billing, 'release' | 'lots'> }

/** The background loops of billing: hold recovery and credit expiry. */
export const startBillingLoops = ({ billing, ...deps }: Deps): Loop[] => [
  startHoldRecovery({ ...deps, release: billing.release }),
  startExpiryLoop({ ...deps, lots: billing.lots }),
]
