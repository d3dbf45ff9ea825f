import type { OwnerScope } from '../../kernel/caller'
import type { Clock } from '../../kernel/clock'
import { hmacHex, timingSafeEqual } from '../../kernel/crypto'
import type { PurchaseId } from './schema'

type Deps = { origin(): string; masterKey: Uint8Array; clock: Clock }

export type PageLinks = ReturnType<typeof createPageLinks>

const PORTAL_MS = 3_600_000

/** Content of a portal link: the owner it shows, and the URL of its "back" link. */
export type PortalLink = { owner: OwnerScope; back: string | null }

/** The signature comes first, after a label that log redaction recognises as a secret. */
const PORTAL_LABEL = 'svc_bp_'

/** URLs of this server's own billing pages. A checkout's id is its secret; a portal link is signed and expires. */
export function createPageLinks({ origin, masterKey, clock }: Deps) {
  const sign = (payload: string) => hmacHex(masterKey, `billing-portal.${payload}`)

  return {
    origin,
    checkoutUrl: (id: PurchaseId | string): string => `${origin()}/billing/checkout/${id}`,

    /** Valid for an hour. */
    portalUrl(owner: OwnerScope, back: string | null): string {
      const content = JSON.stringify([owner, back, clock.now() + PORTAL_MS])
      const payload = Buffer.from(content).toString('base64url')
      return `${origin()}/billing/portal/${PORTAL_LABEL}${sign(payload)}.${payload}`
    },

    /** Null for a link that this server did not sign, or that has expired. */
    readPortal(token: string): PortalLink | null {
      const [signature = '', payload = ''] = token.split('.')
      if (!timingSafeEqual(signature, PORTAL_LABEL + sign(payload))) return null
      const [owner, back, ends] = JSON.parse(Buffer.from(payload, 'base64url').toString()) as [
        OwnerScope,
        string,
        number,
      ]
      return ends > clock.now() ? { owner, back } : null
    },
  }
}
