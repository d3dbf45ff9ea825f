import templates from './code-templates.json'

export type Language = 'python' | 'javascript' | 'typescript' | 'go'

/** A small program that people often ask for, written by hand in each language. */
export type Template = { asked: RegExp; title: string; code: Partial<Record<Language, string>> }

/** The templates are data, so they are stored line by line in a JSON file. */
export const TEMPLATES: readonly Template[] = templates.map(({ asked, title, code }) => ({
  asked: new RegExp(asked, 'i'),
  title,
  code: Object.fromEntries(Object.entries(code).map(([language, lines]) => [language, lines.join('\n')])),
}))
