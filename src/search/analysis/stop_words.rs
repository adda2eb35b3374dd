//! Words that are in every text and say little: they are indexed, because phrases have
//! them, but left out of scoring.

use super::language::Language;

/// Whether a word is in every text of a language. `folded` is in lower case, without
/// accents and apostrophes, and no stem.
#[must_use]
pub fn is_stop_word(language: Language, folded: &str) -> bool {
    list(language).split_ascii_whitespace().any(|word| word == folded)
}

/// Languages without a list have no stop words: scores make frequent words light.
fn list(language: Language) -> &'static str {
    match language {
        Language::English => ENGLISH,
        Language::German => GERMAN,
        Language::French => FRENCH,
        Language::Spanish => SPANISH,
        Language::Italian => ITALIAN,
        Language::Portuguese => PORTUGUESE,
        Language::Dutch => DUTCH,
        Language::Swedish => SWEDISH,
        Language::Norwegian => NORWEGIAN,
        Language::Danish => DANISH,
        Language::Finnish => FINNISH,
        Language::Polish => POLISH,
        Language::Russian => RUSSIAN,
        Language::Ukrainian => UKRAINIAN,
        Language::Turkish => TURKISH,
        Language::Indonesian => INDONESIAN,
        Language::Hungarian => HUNGARIAN,
        Language::Romanian => ROMANIAN,
        Language::Czech => CZECH,
        Language::Greek => GREEK,
        Language::Catalan => CATALAN,
        Language::Arabic
        | Language::Armenian
        | Language::Basque
        | Language::Esperanto
        | Language::Estonian
        | Language::Hindi
        | Language::Irish
        | Language::Lithuanian
        | Language::Nepali
        | Language::Persian
        | Language::Tamil
        | Language::Yiddish => "",
    }
}

const ENGLISH: &str = "\
    a about above after again against all am an and any are arent as at be because been \
    before being below between both but by can cannot cant could couldnt did didnt do \
    does doesnt doing dont down during each either few for from further had hadnt has \
    hasnt have havent having he her here hers herself him himself his how i if in into \
    is isnt it its itself just let may me might more most must my myself neither no nor \
    not of off on once only or other ought our ours ourselves out over own per rather \
    same shall she should shouldnt since so some such than that the their theirs them \
    themselves then there these they this those though through thus to too under until \
    up upon us very via was wasnt we were werent what when where whether which while who \
    whom whose why will with within without wont would wouldnt yet you your yours \
    yourself yourselves";

const GERMAN: &str = "\
    aber alle allem allen aller alles als also am an ander andere anderem anderen \
    anderer anderes auch auf aus bei beim bin bis bist da damit dann das dass dazu dein \
    deine dem den denn der deren des dessen dich die dies diese diesem diesen dieser \
    dieses dir doch dort du durch ein eine einem einen einer eines er es etwas euch euer \
    eure fur gegen gewesen hab habe haben hat hatte hatten hier hin hinter ich ihm ihn \
    ihnen ihr ihre ihrem ihren ihrer im in indem ins ist jede jedem jeden jeder jedes \
    jene kann kein keine keinem keinen keiner konnen konnte machen man manche mein meine \
    meinem meinen meiner mich mir mit muss musste nach nicht nichts noch nun nur ob oder \
    ohne sehr sein seine seinem seinen seiner selbst sich sie sind so solche soll sollte \
    sondern sonst uber um und uns unser unsere unter vom von vor wahrend war waren warum \
    was weg weil weiter welche welchem welchen welcher welches wenn wer werde werden wie \
    wieder will wir wird wirst wo wollen wurde wurden zu zum zur zwar zwischen";

const FRENCH: &str = "\
    ai aie ait alors as au aucun aussi autre aux avaient avait avant avec avoir c ca car \
    ce ceci cela celle celui ces cet cette ceux chaque ci comme comment d dans de des du \
    elle elles en encore entre es est et etaient etais etait ete etes etre eu eux fait \
    furent fut il ils j je l la le les leur leurs lui m ma mais me meme mes moi mon n ne \
    ni nos notre nous on ont ou par parce pas pendant peu peut plus pour pourquoi qu \
    quand que quel quelle quelles quels qui s sa sans se sera ses si soit son sont sous \
    suis sur t ta te tes toi ton tous tout toute tres tu un une vos votre vous y";

const SPANISH: &str = "\
    a al algo algunas algunos ante antes aquel como con contra cual cuando de del desde \
    donde durante e el ella ellas ellos en entre era eran eres es esa esas ese eso esos \
    esta estaba estado estan estar estas este esto estos estoy fue fueron ha haber habia \
    han hasta hay he la las le les lo los mas me mi mis mucho muchos muy nada ni no nos \
    nosotros nuestra nuestro o os otra otras otro otros para pero poco por porque que \
    quien quienes se sea ser si sido sin sobre somos son soy su sus tambien tanto te \
    tiene tienen todo todos tu tus un una uno unos vosotros y ya yo";

const ITALIAN: &str = "\
    a ad agli ai al alla alle allo anche avere aveva c che chi ci come con contro cosa \
    cui d da dagli dai dal dalla dalle degli dei del della delle dello di dove e ed era \
    erano essere fra gli ha hanno ho i il in io l la le lei li lo loro lui ma mi mia mio \
    ne negli nei nel nella nelle nello no noi non nostra nostro o per perche piu quale \
    quando quanto quella quelle quelli quello questa queste questi questo se sei si sia \
    siamo siete sono sta su sua sue sugli sui sul sulla sulle suo suoi tra tu tua tuo \
    tutti tutto un una uno vi voi";

const PORTUGUESE: &str = "\
    a ao aos aquela aquele aquilo as ate com como da das de dela dele deles depois do \
    dos e ela elas ele eles em entre era eram essa esse esta estao estava este eu foi \
    foram ha isso isto ja lhe lhes mais mas me mesmo meu minha muito na nao nas nem no \
    nos nossa nosso num numa o os ou para pela pelas pelo pelos por qual quando que quem \
    sao se sem ser seu seus so sua suas tambem te tem tinha tu tua um uma voce voces";

const DUTCH: &str = "\
    aan al alles als altijd andere ben bij daar dan dat de der deze die dit doch doen \
    door dus een eens en er ge geen geweest haar had heb hebben heeft hem het hier hij \
    hoe hun iemand iets ik in is ja je kan kon kunnen maar me meer men met mij mijn moet \
    na naar niet niets nog nu of om omdat onder ons ook op over reeds te tegen toch toen \
    tot u uit uw van veel voor want waren was wat werd wezen wie wil worden wordt zal ze \
    zelf zich zij zijn zo zonder zou";

const SWEDISH: &str = "\
    alla allt att av blev bli blir da dar de deg dem den denna deras dess dessa det \
    detta dig din du efter ej eller en er ett for fran ha hade han hans har henne hennes \
    hon honom hur i icke ingen inom inte jag ju kan kunde man med mellan men mig min \
    mitt mot mycket nagon nagot nar ni nu och om oss over pa sa samma sedan sig sin sitt \
    ska skulle som till under upp ut utan vad var vara varfor vart vem vi vid vilken";

const NORWEGIAN: &str = "\
    alle at av ble bli da de deg dem den denne der deres det dette din du eller en er et \
    etter for fordi fra ha hadde han hans har hennes her hun hva hvem hvor hvordan \
    hvorfor i ikke ingen jeg kan kunne man med meg men min mot nar ned noe noen nu og \
    ogsa om opp oss over pa sa seg selv sin skal skulle som til under ut var vare vart \
    ved vi vil ville";

const DANISH: &str = "\
    af alle at blev blive da de dem den denne der deres det dette dig din disse dog du \
    efter eller en end er et for fra ham han hans har havde hende her hos hun hvad hvis \
    hvor hvordan i ikke ind jeg jo kunne man med meget men mig min mod nar ned noget \
    nogle nu og ogsa om op os over pa sadan sig sin skal skulle som til ud under var ved \
    vi vil ville vor";

const FINNISH: &str = "\
    ei eika en ennen etta ettei han hanen he heidan hyvin ja jo joka jokin jos jossa \
    kanssa kuin kuinka kun kuten me meidan mika miksi mina minun missa mita mutta myos \
    ne niin nyt ole oli olla on ovat se seka sen siella sina sita taalla tai tama taman \
    te tuo vaan vai vaikka vain voi";

const POLISH: &str = "\
    a aby albo ale bardzo bez by byc byl byla bylo co czy dla do gdy gdzie go i ich ile \
    im ja jak jako je jego jej jest jeszcze juz kto ktora ktore ktory lub ma mi mnie mu \
    na nad nie nim niz o od oraz po pod przed przez przy sa sie so ta tak tam te tego \
    tej ten to tu ty tym w we wiec z za ze";

const RUSSIAN: &str = "\
    а без более бы был была были было быть в вам вас весь во вот все всего всех вы где \
    да даже для до его ее если есть еще же за здесь и из или им их к как какая \
    какой когда которая которые который кто ли либо мне может мы на над надо наш не него \
    нее нет ни них но ну о об он она они оно от очень по под после при про с со так \
    также такой там те тем то того тоже той только том тут ты у уже хотя чего чей чем \
    через что чтобы чье эта эти это этого этой этом этот я";

const UKRAINIAN: &str = "\
    а але без би був була були було бути в вам вас вже ви вона вони воно все всі від він \
    де для до ж з за зі й його на над не немає ну ні о об од по при про під та так також \
    там те ти то тому ту тільки у хто це цей ця ці чи що щоб я як яка який які є і із їх \
    її";

const TURKISH: &str = "\
    acaba ama ancak bana bazi belki ben beni bir biri biz bu bunu cok cunku da daha de \
    degil diye en gibi hem hep her hic icin ile ise kadar ki kim mi mu nasil ne neden \
    nerede o olan olarak oldu on onlar onu sen siz su tum ve veya ya yani";

const INDONESIAN: &str = "\
    ada adalah akan aku anda apa atau bagi bahwa bisa dalam dan dari dengan di dia hanya \
    harus ia ini itu jika juga kami karena ke kita lain lebih maka mereka oleh pada saat \
    saya sebagai sebuah seorang sudah telah tetapi tidak untuk yang";

const HUNGARIAN: &str = "\
    a az azok azt be bele ben benne csak de e egy egyik el es ez ezek ezt fel ha hanem \
    hogy hol igen is itt kell ki le lehet lesz maga mar meg mely mert mi miert mint mit \
    most nagyon ne nekem nem nincs o ok olyan ott pedig s sem sok szamara szerint \
    tehat ugy utan vagy valaki van vannak vele volt voltak";

const ROMANIAN: &str = "\
    a acea aceasta acei acest ai al ale am ar are as au ca care ce cei cel cele cu cum \
    da daca de deci din dintre doar dupa ea ei el ele era este eu fi fie fost ia in \
    intre isi la lui mai ne ni nici noi nu o ori pe pentru prin sa sau se si sunt tot un \
    una unde unei unui va voi";

const CZECH: &str = "\
    a aby aj ale ani az bez bude by byl byla bylo byt co do i ja jak jako je jeho jeji \
    jejich jen jeste ji jsem jsi jsme jsou k kde kdo kdyz ke ktera ktere ktery ma mezi \
    mi na nad ne nebo nei nez nic o od on ona oni pak po pod podle prave pri pro proc \
    proto s se si sve ta tak take tam tedy ten to toho tohoto tom tomto tu ty u uz v vam \
    vas ve vsak z za ze";

const GREEK: &str = "\
    αλλα αν απο αυτα αυτη αυτο αυτοσ για δε δεν εγω ειμαι ειναι ενα ενασ η ηταν θα και \
    κατα με μεσα μετα μη μια μου να ο οι οπωσ οτι ουτε παρα που πωσ σε στη στην στο στον \
    στουσ τα τη την τησ τι το τον του τουσ των ωσ";

const CATALAN: &str = "\
    a aixo al als amb aquest aquesta com d de del dels des doncs el els em en entre era \
    es esta fins ha han hi i jo l la les li lo mes meu molt no nos o on pel per pero \
    perque quan que qui s se sense ser si sobre son tambe te tot un una";
