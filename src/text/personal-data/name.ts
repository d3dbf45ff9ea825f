import { found } from '../names/tagger'
import type { TextSpan } from '../span'
import type { Find } from './kind'

/** In Chinese and Japanese the form of address follows, and tells a name better than its letters do. */
const HONORIFIC_AFTER =
  /(?<![\p{L}\p{M}])([\p{Script=Han}]{1,4}|[\p{Script=Katakana}ー]{2,10})(?:さん|様|先生|女士|小姐)/gu

/** Names of persons: those of a model that reads a word and its neighbours, and those before a form of address. */
export const findPersons: Find = (text) => {
  const addressed = [...text.matchAll(HONORIFIC_AFTER)].map(
    ({ index, 1: name }): TextSpan => ({
      start: index,
      end: index + name!.length,
    }),
  )
  return addressed.length ? [...addressed, ...found(text, 'name')] : found(text, 'name')
}
