import deprecated from 'spdx-license-ids/deprecated.json'
import current from 'spdx-license-ids/index.json'

/** By their small letters: SPDX does not tell `mit` from `MIT`. */
const IDS = new Set([...current, ...deprecated].map((id) => id.toLowerCase()))
/** A licence of one's own, by the name SPDX keeps for those. */
const OWN = /^licenseref-[a-z0-9.-]+$/

/**
 * Whether every licence of an SPDX expression such as `MIT`, `GPL-2.0+` or `MIT OR Apache-2.0` is one of the
 * list. What stands after `WITH` is an exception and is not looked up.
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
