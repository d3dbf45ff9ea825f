import deprecated from 'spdx-license-ids/deprecated.json'
import current from 'spdx-license-ids/index.json'

/** In lower case, because SPDX identifiers are case-insensitive. */
const IDS = new Set([...current, ...deprecated].map((id) => id.toLowerCase()))
/** A custom licence: SPDX reserves the prefix `LicenseRef-` for licences outside its list. */
const OWN = /^licenseref-[a-z0-9.-]+$/

/**
 * True if an SPDX expression such as `MIT`, `GPL-2.0+` or `MIT OR Apache-2.0` names only licences on the SPDX list or
 * custom ones. The exception after `WITH` is not checked.
 */
export function isLicense(expression: string): boolean {
  const words = expression.toLowerCase().split(' ')
  const isWhole = words.length % 2 === 1
  return (
    isWhole &&
    words.every((word, at) => {
      if (at % 2 === 1) return word === 'and' || word === 'or' || word === 'with'
      const id = word.replace(/\+$/, '')
      return words[at - 1] === 'with' || IDS.has(id) || OWN.test(id)
    })
  )
}
