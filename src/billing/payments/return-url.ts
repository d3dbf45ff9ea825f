import { AppError, atField } from '../../kernel/errors'
import { createAddressRule, readPublicUrl, type UrlRules } from '../../kernel/outbound'

const LOOPBACK = ['127.0.0.0/8', '::1/128']

/**
 * Validates the URL a browser is sent to after paying. It comes from the caller, so it is checked like an outbound URL
 * (contract 1.5), except that this server's own pages and fragments are allowed. Outside production loopback
 * addresses are allowed too.
 */
export function createReturnUrls({ production }: { production: boolean }) {
  const rules: UrlRules = {
    addresses: createAddressRule({ allow: production ? [] : LOOPBACK }),
    ownHosts: new Set(),
    httpsOnly: production,
    localNames: !production,
  }
  /** Returns the text unchanged. Throws 400 `url_blocked`, naming the field. */
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
