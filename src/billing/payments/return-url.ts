import { createAddressRule } from '../../kernel/addresses'
import { AppError, atField } from '../../kernel/errors'
import { readPublicUrl, type UrlRules } from '../../kernel/outbound-url'

const LOOPBACK = ['127.0.0.0/8', '::1/128']

/**
 * Where a browser is sent after paying: an address somebody sent us, so it is checked like one we would call
 * (contract 1.5), though this server's own pages are fine, and so is a fragment. A server that is not in
 * production also sends people to this machine.
 */
export function createReturnUrls({ production }: { production: boolean }) {
  const rules: UrlRules = {
    addresses: createAddressRule({ allow: production ? [] : LOOPBACK }),
    ownHosts: new Set(),
    httpsOnly: production,
    localNames: !production,
  }
  /** Answers the text as it came. Throws 400 `url_blocked`, naming the field. */
  return (text: string, field: string): string => {
    const hash = text.indexOf('#')
    try {
      readPublicUrl(hash < 0 || /[\p{Cc}\s\\]/u.test(text) ? text : text.slice(0, hash), rules)
    } catch (error) {
      throw error instanceof AppError ? atField(error, field) : error
    }
    return text
  }
}
