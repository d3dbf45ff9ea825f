/** Words that leave no doubt about what is wanted, and the words that take it back. */
export type Signal = {
  mode: string
  fires: RegExp
  unless?: RegExp
  confidence: number
  /** For `routing.reasoning`: names the kind of signal, never the prompt. */
  reasoning: string
}

/** How a request in English begins before its verb: only an instruction counts, not a question about one. */
export const OPENING =
  "^(?:(?:please|hey|hi|ok|okay|now|so|kindly|svc|can you|could you|would you|will you|i want you to|i need you to|i(?: would|'d) like you to|i want to|i need to|let's|lets|go ahead and|help me(?: to)?)[ ,]+)*"

/** A pattern of words that must begin the instruction. */
export const begins = (pattern: string): RegExp => new RegExp(`${OPENING}(?:${pattern})`, 'iu')
