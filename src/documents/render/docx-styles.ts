import * as word from 'docx'

const INK = '1F2937'
export const ACCENT = '1E4E8C'
export const QUIET = '6B7280'
export const RULE = 'D5DAE1'
export const TINT = 'F3F5F8'

/** In twentieths of a point. */
export const INDENT = 360
export const MOST_LEVELS = 6

export const STYLES: word.IStylesOptions = {
  default: {
    document: {
      run: { font: 'Calibri', size: 22, color: INK },
      paragraph: { spacing: { after: 140, line: 290, lineRule: word.LineRuleType.AUTO } },
    },
    title: { run: { size: 52, bold: true, color: ACCENT, font: 'Calibri' }, paragraph: { spacing: { after: 60 } } },
    heading1: heading(34, ACCENT, 340),
    heading2: heading(28, ACCENT, 280),
    heading3: heading(24, INK, 220),
    heading4: heading(22, QUIET, 180),
    hyperlink: { run: { color: ACCENT, underline: {} } },
    listParagraph: { paragraph: { spacing: { after: 60 } } },
  },
}

function heading(size: number, color: string, before: number) {
  return {
    run: { size, bold: true, color, font: 'Calibri' },
    paragraph: { spacing: { before, after: 90 }, keepNext: true },
  }
}

const levels = (
  of: (level: number) => {
    format: (typeof word.LevelFormat)[keyof typeof word.LevelFormat]
    text: string
    start?: number
  },
) =>
  Array.from({ length: MOST_LEVELS }, (_, level) => ({
    level,
    alignment: word.AlignmentType.LEFT,
    style: { paragraph: { indent: { left: INDENT * (level + 1), hanging: INDENT } } },
    ...of(level),
  }))

export const bullets = {
  reference: 'bullets',
  levels: levels((level) => ({ format: word.LevelFormat.BULLET, text: ['•', '◦', '▪'][level % 3]! })),
}

/** Each numbered list counts for itself, from its own first number. */
export const numbers = (start: number, at: number) => ({
  reference: `numbers-${at}`,
  levels: levels((level) => ({
    format: [word.LevelFormat.DECIMAL, word.LevelFormat.LOWER_LETTER, word.LevelFormat.LOWER_ROMAN][level % 3]!,
    text: `%${level + 1}.`,
    start: level === 0 ? start : 1,
  })),
})
