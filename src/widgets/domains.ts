import { resolveTxt } from 'node:dns/promises'
import { type Clock, iso } from '../kernel/clock'
import { hmacHex } from '../kernel/crypto'
import { AppError, atField, invalidInput, quoted } from '../kernel/errors'
import { type Outbound, OutboundFailure } from '../kernel/outbound'
import type { DomainCheck, DomainChecked } from './schema'

type Deps = {
  clock: Clock
  masterKey: Uint8Array
  outbound: Pick<Outbound, 'fetchPublic' | 'readUrl'>
  /** The TXT records of a name; by default those of this system's resolver. */
  txtOf?: (name: string) => Promise<string[][]>
}

const HOST = /^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/
const PATH = '/.well-known/svc-verify.txt'
const MOST_BYTES = 4_096
const TIMEOUT_MS = 5_000

/** Whether a widget's owner controls a domain: a TXT record or a file says the value of this widget (contract 15.1). */
export function createDomains({ clock, masterKey, outbound, txtOf = resolveTxt }: Deps) {
  return async function verify(id: string, { domain: sent, method = 'dns' }: DomainCheck): Promise<DomainChecked> {
    const domain = readDomain(sent)
    const value = `svc-verify=${hmacHex(masterKey, `widget-domain ${id} ${domain}`).slice(0, 40)}`
    const name = method === 'dns' ? `_svc-verify.${domain}` : `https://${domain}${PATH}`
    const verified = method === 'dns' ? await says(name, value) : await serves(name, value)
    return { domain, verified, method, record: { name, value }, checked_at: iso(clock.now()) }
  }

  async function says(name: string, value: string): Promise<boolean> {
    const { promise: late, resolve } = Promise.withResolvers<string[][]>()
    const cancel = clock.after(TIMEOUT_MS, () => resolve([]))
    const found = await Promise.race([txtOf(name).catch(() => []), late])
    cancel()
    return found.some((parts) => parts.join('').trim() === value)
  }

  /** Through the outbound door: the name may lead anywhere. */
  async function serves(url: string, value: string): Promise<boolean> {
    try {
      const { status, body } = await outbound.fetchPublic(url, { maxBytes: MOST_BYTES, timeoutMs: TIMEOUT_MS })
      return status === 200 && Buffer.from(body).toString('utf8').trim() === value
    } catch (error) {
      if (error instanceof OutboundFailure) return false
      if (error instanceof AppError && error.code === 'url_blocked') throw atField(error, 'domain')
      throw error
    }
  }
}

function readDomain(sent: string): string {
  const domain = sent.trim().toLowerCase().replace(/\.$/, '')
  if (HOST.test(domain)) return domain
  throw invalidInput('domain', `"domain" is "${quoted(sent)}"; send a host name such as shop.example.`)
}
