import * as word from 'docx'
import { directionOf } from '../../fonts'
import { plain, type Text } from '../blocks/model'
import { TINT } from './docx-styles'

export const isFromRight = (text: Text): boolean => directionOf(plain(text)) === 'rtl'
export const directed = (text: Text) => (isFromRight(text) ? { bidirectional: true } : {})

type Look = { bold?: boolean; color?: string; size?: number }

/** A text as the runs of a word processor, each piece in its own look. */
export function runs(text: Text, look: Look = {}): word.ParagraphChild[] {
  return text.flatMap<word.ParagraphChild>(({ text: words, bold, italic, strike, code, link }) => {
    const run = words.split('\n').map(
      (line, at) =>
        new word.TextRun({
          text: line,
          ...look,
          ...(isFromRight([{ text: line }]) ? { rightToLeft: true } : {}),
          ...(at ? { break: 1 } : {}),
          ...(bold ? { bold } : {}),
          ...(italic ? { italics: true } : {}),
          ...(strike ? { strike } : {}),
          ...(code ? { font: 'Consolas', size: 19, shading: { type: word.ShadingType.CLEAR, fill: TINT } } : {}),
          ...(link ? { style: 'Hyperlink' } : {}),
        }),
    )
    return link ? [new word.ExternalHyperlink({ link, children: run })] : run
  })
}
