/** `fires` matches words that clearly ask for a mode; `unless` matches words that contradict it. */
export type Signal = {
  mode: string
  fires: RegExp
  unless?: RegExp
  confidence: number
  /** For `routing.reasoning`: names the kind of signal, never the prompt. */
  reasoning: string
}

/** Polite words that may stand before the verb of an English request; a question about the verb does not match. */
const OPENING =
  "^(?:(?:please|hey|hi|ok|okay|now|so|kindly|svc|can you|could you|would you|will you|i want you to|i need you to|i(?: would|'d) like you to|i want to|i need to|let's|lets|go ahead and|help me(?: to)?)[ ,]+)*"

/** A pattern of words that must begin the instruction. */
export const begins = (pattern: string): RegExp => new RegExp(`${OPENING}(?:${pattern})`, 'iu')
