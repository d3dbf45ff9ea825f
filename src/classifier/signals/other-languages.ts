import type { Signal } from './signal'

/**
 * Plain requests in the most common other languages: an imperative verb and the thing to make. Anything subtler
 * is left to later stages.
 */
const signal = (mode: string, confidence: number, fires: RegExp, unless?: RegExp): Signal => ({
  mode,
  confidence,
  reasoning: `asks for ${mode.replace('_', ' ')} in another language`,
  fires,
  ...(unless ? { unless } : {}),
})

const PLEASE =
  '^(?:(?:bitte|kannst du(?: mir)?|s.il (?:te|vous) pla[iî]t|peux-tu|por favor|puedes|per favore|puoi|você pode|请|請|帮我|幫我)[ ,，]*)*'

const begins = (pattern: string): RegExp => new RegExp(`${PLEASE}(?:${pattern})`, 'iu')

export const OTHER_LANGUAGES: readonly Signal[] = [
  signal(
    'code',
    0.94,
    begins(
      '(?:schreibe?|erstelle?|programmiere) (?:mir )?(?:eine?n? )?(?:[\\p{L}-]+ ){0,2}(?:funktion|skript|programm|klasse|komponente)(?!\\p{L})|(?:écri[st]|crée[rz]?|code) (?:moi )?(?:une? )?(?:fonction|script|programme|classe|composant)(?!\\p{L})|(?:escrib[ea]|crea|haz|programa) (?:una? )?(?:función|funcion|script|programa|clase|componente)(?!\\p{L})|(?:scrivi|crea) (?:una? |uno )?(?:funzione|script|programma|classe|componente)(?!\\p{L})|(?:escrev[ae]|cri[ae]) (?:uma? )?(?:função|script|programa|classe|componente)(?!\\p{L})|(?:写|寫|编写|編寫)(?:一个|一個)?.{0,12}(?:函数|函數|脚本|腳本|程序|程式|组件|代码|代碼)|.{0,20}(?:関数|スクリプト|プログラム|コード)を(?:書いて|作って)',
    ),
  ),
  signal(
    'video',
    0.93,
    begins(
      '(?:erstelle?|mache?|generiere) (?:mir )?ein(?:en)? (?:[\\p{L}-]+ ){0,2}(?:video|film|animation)(?!\\p{L})|(?:crée[rz]?|fais|génère) (?:moi )?une? (?:vidéo|film|animation)(?!\\p{L})|(?:crea|genera|haz) una? (?:vídeo|video|animación|animazione)(?!\\p{L})|(?:cri[ae]|gere) um vídeo(?!\\p{L})|(?:生成|制作|製作|做)(?:一个|一個|一段)?.{0,12}(?:视频|影片|動畫|动画)|.{0,20}(?:動画|ビデオ)を(?:作って|生成して)',
    ),
    /videospiel|jeu vidéo|videojuego|videogioco/i,
  ),
  signal(
    'image',
    0.94,
    begins(
      '(?:zeichne|male) (?:mir |uns )?(?:ein|eine|einen|das|den|die)(?!\\p{L})|(?:erstelle?|generiere|mache?) (?:mir )?(?:ein|eine) (?:[\\p{L}-]+ ){0,2}(?:bild|foto|logo|illustration|zeichnung)(?!\\p{L})|dessine(?:r|z)?(?:-| )?(?:moi )?(?:une?|le|la|des)(?!\\p{L})|(?:crée[rz]?|génère|fais) (?:moi )?une? (?:image|photo|logo|illustration|dessin)(?!\\p{L})|dib[uú]ja(?:me)? (?:una?|el|la|dos)(?!\\p{L})|(?:crea|genera|haz) una? (?:imagen|foto|logo|ilustración|dibujo|immagine)(?!\\p{L})|disegna(?:mi)? (?:una?|uno|il|la)(?!\\p{L})|(?:crea|genera) un.immagine|desenh[ae](?: -?me)? (?:uma?|o|a)(?!\\p{L})|(?:cri[ae]|gere) uma? (?:imagem|foto|logo|ilustração)(?!\\p{L})|(?:画|畫|绘制|繪製)(?:一|个|個|张|張|幅|只|隻|出)|(?:生成|制作|做|製作)(?:一张|一張|一幅|一个|一個)?.{0,12}(?:图片|圖片|图像|圖像|海报|标志)|.{0,20}(?:を描いて|の絵を)|.{0,20}(?:그려|그림을)',
    ),
  ),
  signal(
    'research',
    0.92,
    begins(
      'recherchiere?(?!\\p{L})|fais (?:des|une) recherches? sur(?!\\p{L})|(?:haz una investigación|investiga) (?:sobre|el|la|los|las)(?!\\p{L})|fai una ricerca su|pesquis[ae] sobre(?!\\p{L})|faça uma pesquisa|(?:调研|調研|深入研究|研究一下)|.{0,20}について(?:調査|リサーチ)して',
    ),
  ),
  signal(
    'data_extraction',
    0.92,
    begins(
      'extrahiere?(?!\\p{L})|extrais(?!\\p{L})|extrae(?!\\p{L})|estrai(?!\\p{L})|extrai[ar]?(?!\\p{L})|(?:从|從).{0,40}(?:提取|抽取)|提取|.{0,30}を抽出して',
    ),
  ),
]
