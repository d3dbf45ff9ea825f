/** What a text names in so many words, "a", "two": what comes after, up to a word that ends it. */
const COUNTED =
  /\b(?:an?|one|two|three|four|five|six|several|some|many)\s+((?:[\p{L}][\p{L}'-]*\s+){0,4}?[\p{L}][\p{L}'-]*)(?=\s+(?:in|on|at|by|with|under|over|above|below|beside|behind|near|next|between|against|along|across|through|from|to|into|and|or|but|for|of|that|who|which|is|are|was|as|like|while|during|wearing|[\p{L}]{2,20}ing)\b|\s*[^\p{L}\s'-]|\s*$)(\s+of\s+(?!an?\b|the\b|one\b|two\b|three\b|some\b|many\b)[\p{L}][\p{L}'-]*)?/gu
/** Words for a picture, its form and its parts, of which none need be known. */
const FORM =
  /\b(?:pictures?|images?|illustrations?|drawings?|photos?|photographs?|paintings?|portraits?|posters?|flyers?|covers?|banners?|cards?|invitations?|logos?|wordmarks?|emblems?|monograms?|icons?|favicons?|avatars?|badges?|stickers?|charts?|graphs?|diagrams?|flow ?charts?|patterns?|wallpapers?|textures?|tiles?|scenes?|views?|backgrounds?|styles?|sketch(?:es)?|render|designs?|compositions?|shapes?|forms?|colou?rs?|lines?|light|sky|day|night|morning|evening|sunset|sunrise|dawn|dusk|way|lot|bit|group|pair|couple|row|set|touch|hint|film|video|clip|animation|title|headline|slogan|words?|text|letters?|abstract|geometric|gradient|watercolou?r|blueprint|outline)\b/u
const MOST = 3
const LONGEST = 40

/** What a description names without this server having a picture of it, in its own words; `isKnown` is asked of a phrase. */
export function unknownIn(text: string, isKnown: (phrase: string) => boolean): string[] {
  const found = [...text.slice(0, 1_000).matchAll(COUNTED)].flatMap(([, thing = '', more = '']) => {
    const phrase = `${thing}${FORM.test(thing) ? '' : more}`
    const name = (FORM.test(thing) && more ? more.replace(/^\s+of\s+/, '') : phrase).trim()
    return FORM.test(name) || isKnown(name) || name.length > LONGEST ? [] : [name]
  })
  return [...new Set(found)].slice(0, MOST)
}
