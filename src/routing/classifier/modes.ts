/** Modes that a text alone can ask for; `vision` needs an image (contract 22.2). The model file uses their order. */
export const TEXT_MODES = [
  ...(['fast', 'think', 'code', 'image', 'video'] as const),
  ...(['research', 'roast', 'genui', 'data_extraction', 'domain_analysis'] as const),
]

export type TextMode = (typeof TEXT_MODES)[number]

export const isTextMode = (word: unknown): word is TextMode => TEXT_MODES.some((mode) => mode === word)
