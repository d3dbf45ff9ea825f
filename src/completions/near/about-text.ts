/** Words for parts of a text, by language. */
const WORDS = {
  en: `words? letters? characters? chars? sentences? questions? prompts? messages? texts? phrases? strings? tokens?
    spaces? spell\\p{L}* syllables? punctuat\\p{L}* commas? marks? capitali[sz]\\p{L}* uppercase lowercase polite\\p{L}*
    please regex\\p{L}* patterns? operators? syntax say saying said rhym\\p{L}* pronounc\\p{L}* abbreviat\\p{L}*
    contractions? apostrophes? typos? gramma\\p{L}* translat\\p{L}*`,
  de: 'worte? wörter buchstaben? zeichen satz sätze frage text',
  fr: 'mots? lettres? caractères? texte',
  es: 'palabras? letras? caracteres pregunta frase texto',
  it: 'parol[ae] letter[ae] caratteri domanda testo',
  pt: 'palavras? pergunta',
  nl: 'woord woorden tekens zin vraag tekst',
}
const ABOUT = new RegExp(
  `(?<!\\p{L})(?:${Object.values(WORDS).join(' ').trim().split(/\s+/).join('|')})(?!\\p{L})`,
  'iu',
)

/** Whether a prompt asks about letters and signs, so that its own may matter: `How long is this sentence?` */
export const isAboutText = (text: string): boolean => ABOUT.test(text)
