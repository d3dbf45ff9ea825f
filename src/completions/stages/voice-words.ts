import type { CompletionRequest } from '../request'

type Voice = CompletionRequest['voice']

const USUAL_LIBRARY = 'svc'

/** The caller's own texts of persona, style and component library; empty strings for absent ones. */
export const wordsOfVoice = ({ persona, style, componentLibrary }: Voice): string[] => [
  typeof persona === 'object' ? persona.system_prompt : '',
  style?.format ?? '',
  style?.preciseness ?? '',
  style?.intent ?? '',
  componentLibrary === USUAL_LIBRARY ? '' : componentLibrary,
]

/** The voice with its texts replaced, in the order of {@link wordsOfVoice}. */
export function withVoice(voice: Voice, [prompt, format, preciseness, intent, componentLibrary]: string[]): Voice {
  const { persona, style } = voice
  return {
    ...voice,
    persona: typeof persona === 'object' ? { system_prompt: prompt! } : persona,
    style: style && { format, preciseness, intent },
    componentLibrary: componentLibrary || voice.componentLibrary,
  }
}
