"""Tables: which commands and environments of LaTeX mean what to a reader.

A specification lists what follows a command: `*` a star, `[` an option, `<` an overlay, `{` an
argument.
"""

from __future__ import annotations


def _table(text: str, spec: str) -> dict[str, str]:
    return dict.fromkeys(text.split(), spec)


# Nothing to read: dropped with their arguments.
DROPPED: dict[str, str] = {
    **_table(
        """centering raggedright raggedleft RaggedRight tiny scriptsize footnotesize small
        normalsize large Large LARGE huge Huge smaller larger noindent indent clearpage newpage
        cleardoublepage pagebreak nopagebreak nolinebreak allowbreak vfill hfill hfil vfil hss vss
        dotfill hrulefill bigskip medskip smallskip null relax protect noexpand expandafter
        ignorespaces ignorespacesafterend unskip leavevmode break nobreak goodbreak filbreak
        makeatletter makeatother frontmatter mainmatter backmatter selectfont normalfont rmfamily
        sffamily upshape mdseries sloppy fussy flushbottom raggedbottom onehalfspacing
        doublespacing singlespacing samepage obeylines obeyspaces twocolumn onecolumn
        listoffigures listoftables listoftodos printindex makeindex makeglossaries
        printnoidxglossaries printnomenclature nonumber phantomsection bgroup egroup begingroup
        endgroup strut mathstrut global long outer immediate looseness unvbox unhbox hline arraybackslash columnbreak FloatBarrier allowframebreaks
        justifying justify titlepage maketitlepage BODY insertlogo usebackgroundtemplate
        fboxsep fboxrule tabularnewline@ shorthandoff@ endinput@ normalmarginpar reversemarginpar
        compress ttfamily@ itshape@ insertnavigation transparent@ qed@ beamertemplatebookbibitems
        beamertemplatearticlebibitems beamertemplatetextbibitems newblock PreloadUnicodePage
        everypar everymath everydisplay NoAutoSpaceBeforeFDP NoAutoSpacing AutoSpacing
        FrenchFootnotes AddThinSpaceBeforeFootnotes StandardLayout faArrowRight@ boldmath
        unboldmath sfdefault rmdefault HRule@ vspaceneg hyphenchar displayskipstretch
        scshape slshape protrudechars adjustspacing cmidrule@ mathligsoff mathligson doublerulesep
        nointerlineskip offinterlineskip newcommand@ ExplSyntaxOn ExplSyntaxOff endfirsthead
        endhead endfoot endlastfoot TPMargin@ balance
        frenchspacing nonfrenchspacing noalign@ urlstyle@ KOMAoptions@ restoregeometry
        savegeometry@ insertsectionhead insertsubsectionhead insertshorttitle insertshortauthor
        insertframenumber inserttotalframenumber insertpagenumber insertframetitle@ logo@
        hspaceneg setupbeamer beamerdefaultoverlayspecification@ PassOptionsToPackage@
        EndFrame@ unitlength@ itemsep@ setupexo@ clearpairofpagestyles""",
        "",
    ),
    **_table(
        """vspace hspace pagestyle thispagestyle bibliographystyle graphicspath
        usetikzlibrary hypersetup lstset tikzset pgfplotsset tcbset sisetup geometry setlist
        captionsetup usepgfplotslibrary tcbuselibrary nocite bibliography addbibresource
        hyphenation index newcolumntype@ pagenumbering newsavebox newlength setmainfont@
        setbeamercovered setbeamersize logo titlegraphic nobibliography
        setdefaultlanguage setmainlanguage setotherlanguage frenchbsetup frenchsetup
        DeclareGraphicsExtensions mdfsetup usemintedstyle mintedset setminted lstloadlanguages
        pgfkeys newfloat@ crefname@ AtEndDocument institute@ selectcolormodel
        linespread setstretch usefonttheme@ fancyhf fancyhead@ fancyfoot@ lhead chead rhead lfoot
        cfoot rfoot renewbibmacro@ newunicodechar@ setuptoc addtocategory
        theoremstyle bibdata DefineBibliographyStrings@ vglue hglue vskip@ usebeamercolor@
        usebeamerfont@ usebeamertemplate beamertemplatenavigationsymbolsempty@ resetcounteronoverlays
        resetcountonoverlays AtBeginBibliography addtolength@ setkomavar enlargethispage
        usekomafont addtokomafont@ KOMAoptions setcaptionwidth color@ hyperlinkframestart@
        setuppagenumbering beamersetaveragebackground AtBeginEnvironment@ makebeamertemplate
        setsansfont@ setmonofont@ marginpar transwipe animatevalue@ transduration hspacex
        lstdefinestyle@ excludeonly printacronyms@ noopsort suppressfloats bibitem@
        disableindentation acsetup glsresetall microtypesetup DisableLigatures setcitestyle
        setlistdepth FloatBarrier@ usecolortheme@ bookmarksetup
        NewCommandCopy@ listfiles AddToHook@ urldef@""",
        "*{",
    ),
    **_table(
        """setlength addtolength settowidth settoheight settodepth definecolor@ colorlet@
        setbeamerfont@ setbeamercolor@ addtocontents AtBeginEnvironment AtEndEnvironment
        BeforeBeginEnvironment AfterEndEnvironment newunicodechar lstdefinestyle
        lstdefinelanguage@ DeclareFieldFormat@ setkomafont addtokomafont tikzstyle@
        DefineBibliographyStrings fontsize crefname@ numberwithin counterwithin
        counterwithout newcommandx@ pgfdeclarelayer@ rowcolors@ hyphenpenalty@ FPset@ patchcmd@
        apptocmd pretocmd DeclareMathSymbol@ declaretheoremstyle@ setsecnumdepth@ hypertargetx
        SetKwInput SetKwInOut@ AddToHook nextchapter@ newlist@ sethlcolor@ pgfmathsetmacro
        pgfmathtruncatemacro pgfmathsetlength renewbibmacro deftranslation@ providetranslation@
        uselanguage@ mdfdefinestyle lstnewenvironmentx declaretranslation@ pgfmathsetseed@
        DeclareCaptionFormat DeclareCaptionLabelFormat DeclareCaptionFont
        titlespacing@ settocbibname@ hypersetupx bibnamedelim""",
        "*{{",
    ),
    **_table("addcontentsline crefname Crefname setbeamertemplatex tikzstyley patchcmdx "
             "FPeval@ titlespacingx contentsline@ DeclareLanguageMapping@ deftranslation "
             "providetranslation pgfdeclareimage@ TPGrid@ lstdefinelanguage@", "*[{{{"),
    **_table("titlespacing patchcmd xpatchcmd", "*{{{{"),
    **_table("titleformat", "*{[{{{{["),
    **_table("usepackagex usefonttheme usecolortheme useinnertheme useoutertheme", "[{"),
    **_table("pdfbookmark currentpdfbookmark subpdfbookmark belowpdfbookmark", "[{{"),
    **_table("definecolor definecolorset providecolor", "[{{{"),
    **_table("colorlet", "[{[{"),
    **_table("setbeamercolor setbeamerfont", "*{{"),
    **_table("setmainfont setsansfont setmonofont setmathfont newfontfamily@ fontspec "
             "defaultfontfeatures", "[{["),
    **_table("newfontfamily", "{[{["),
    **_table("declaretheoremstyle", "[{"),
    **_table("newlist", "{{{"),
    **_table("newcolumntype", "{[{"),
    **_table("rowcolors", "*[{{{"),
    **_table("rowcolor cellcolor columncolor arrayrulecolor", "[{["),
    **_table("pgfdeclareimage", "[{{"),
    **_table("lstdefinelanguage", "[{[{"),
    **_table("cmidrule", "[{"),
    **_table("cline", "{"),
    **_table("specialrule", "{{{"),
    **_table("addlinespace toprule midrule bottomrule", "["),
    **_table("put rput uput cput multiput", "(("),
    **_table("usebox total", "{"),
    **_table("fancyhead fancyfoot", "[{"),
    **_table("glsaddall glsadd", "[{"),
    **_table("printglossary printglossaries printnoidxglossary printacronyms printbibliography "
             "printsubbibliography", "["),
    **_table("color pagecolor", "[{"),
    **_table("usebeamercolor usebeamerfont", "*[{"),
    **_table("savegeometry", "{"),
    **_table("listoftheorems", "["),
    **_table("transdissolve transfade transpush transsplitverticalout transboxin transreplace "
             "transglitter transuncover transcover transblindsvertical transblindshorizontal "
             "transsplithorizontalin transboxout transsplitverticalin", "<["),
    **_table("newcounter", "{["),
    **_table("pgfmathparse pgfmathresult@", "{"),
    **_table("SetKwFunction SetKwProg SetKw SetKwData", "{{"),
    **_table("newacronymstyle", "{{{"),
    **_table("hypersetups", "{"),
    **_table("minitoc", ""),
    **_table("DeclareUnicodeCharacter", "{{"),
    **_table("IfPackageLoadedT@", "{{"),
    **_table("lstset@", "{"),
    **_table("textblockorigin TPMargin", "*{"),
    **_table("rule", "[{{"),
    **_table("PassOptionsToPackage", "{{"),
    **_table("todo missingfigure", "[{"),
    **_table("vphantom hphantom phantom", "{"),
    **_table("tikzmark", "{"),
    **_table("urlstyle", "{"),
    **_table("usesmartphone", ""),
    **_table("includepdf", "[{"),
    **_table("framezoom hypercalcbp", "<<[(("),
    **_table("movie@ sound@ hyperlinkmovie@", "[{{"),
}  # fmt: skip
DROPPED = {name: spec for name, spec in DROPPED.items() if not name.endswith("@")}

# Shown whole; the number is the argument that is shown, the string what follows the command.
SHOWN: dict[str, tuple[str, int]] = {
    **dict.fromkeys(
        [
            "text",
            "textrm",
            "textsf",
            "textup",
            "textmd",
            "textnormal",
            "mbox",
            "hbox",
            "vbox",
            "vtop",
            "fbox",
            "centerline",
            "leftline",
            "rightline",
            "uline",
            "underline",
            "uuline",
            "uwave",
            "sout",
            "dashuline",
            "dotuline",
            "hl",
            "MakeUppercase",
            "MakeLowercase",
            "uppercase",
            "lowercase",
            "textsc",
            "textsl",
            "textlf",
            "raggedleftx",
            "hphantomx",
            "alertx",
            "shadowbox",
            "doublebox",
            "ovalbox",
            "Ovalbox",
            "frame",
            "structure",
            "beamergotobutton",
            "beamerbutton",
            "beamerskipbutton",
            "beamerreturnbutton",
            "lowersmall",
            "so",
            "caps",
            "ul",
            "st",
            "titlecap",
            "foreignquote",
            "ensuremath",
            "nolink",
            "mainlanguage",
            "sectionmark",
            "subsectionmark",
            "smash",
            "textmath",
            "textbackslashx",
            "nohyphens",
            "justifyx",
            "hyphen",
            "keywordx",
            "sidenote",
            "marginnote",
            "shorthand",
        ],
        ("{", 0),
    ),
    "texorpdfstring": ("{{", 0),
    "textcolor": ("[{{", 2),
    "colorbox": ("[{{", 2),
    "fcolorbox": ("[{{{", 3),
    "parbox": ("[[[{{", 4),
    "makebox": ("[[{", 2),
    "framebox": ("[[{", 2),
    "raisebox": ("{[[{", 3),
    "scalebox": ("{[{", 2),
    "resizebox": ("*{{{", 3),
    "rotatebox": ("[{{", 2),
    "adjustbox": ("{{", 1),
    "foreignlanguage": ("[{{", 2),
    "hyperlink": ("{{", 1),
    "hypertarget": ("{{", 1),
    "hyperref": ("[{", 1),
    "multirow": ("[{[{[{", 5),
    "textlang": ("{{", 1),
    "reflectbox": ("{", 0),
    "tcbox": ("[{", 1),
    "tcboxmath": ("[{", 1),
    "savebox": ("{[[{", -1),
    "sbox": ("{{", -1),
    "rlap": ("{", 0),
    "llap": ("{", 0),
    "clap": ("{", 0),
    "marginpar": ("[{", 1),
    "footnotetextx": ("{", 0),
    "shortstack": ("[{", 1),
    "rput": ("({", -1),
    "subcaption": ("{", 0),
    "makecell": ("*[{", 2),
    "thead": ("[{", 1),
    "uncoverenv": ("{", 0),
    "vcenter": ("{", 0),
    "transparent": ("{", -1),
    "animategraphics": ("[{{{{", -1),
    "movie": ("[{{", 1),
    "sound": ("[{{", 1),
    "pdftooltip": ("{{", 0),
    "hyperlinkslideprev": ("{", 0),
    "hyperlinkframestart": ("{", 0),
    "hyperlinkframestartnext": ("{", 0),
}

STRONG = frozenset({"textbf", "alert", "strong", "textbfx", "key"})
EMPHASIS = frozenset({"emph", "textit", "textem"})
CODE = frozenset({"texttt", "code", "lstinline", "verb", "mintinline", "path", "url", "nolinkurl"})
SWITCHES = {
    "bf": "strong",
    "bfseries": "strong",
    "em": "emphasis",
    "it": "emphasis",
    "itshape": "emphasis",
    "sl": "emphasis",
    "tt": "code",
    "ttfamily": "code",
    "rm": "",
    "sf": "",
    "sc": "",
}

# Commands that beamer lets carry an overlay specification.
OVERLAID = frozenset(
    [
        "textbf",
        "textit",
        "texttt",
        "textsf",
        "textrm",
        "textsc",
        "textsl",
        "emph",
        "alert",
        "structure",
        "color",
        "textcolor",
        "item",
        "only",
        "uncover",
        "visible",
        "invisible",
        "onslide",
        "alt",
        "temporal",
        "note",
        "label",
        "hyperlink",
        "hypertarget",
        "includegraphics",
        "pgfuseimage",
        "bibitem",
        "section",
        "subsection",
        "footnote",
        "action",
        "frametitle",
        "framesubtitle",
        "beamergotobutton",
        "beamerbutton",
        "againframe",
        "column",
        "pause",
        "textup",
        "textmd",
        "textnormal",
        "underline",
        "draw",
        "node",
        "path",
        "fill",
        "footnotetext",
        "movie",
        "animate",
        "animatevalue",
        "transdissolve",
    ]
)
# Commands that read as an environment or a construction of their own, never redefined.
PROTECTED = frozenset(
    [
        "begin",
        "end",
        "item",
        "section",
        "subsection",
        "subsubsection",
        "paragraph",
        "subparagraph",
        "chapter",
        "part",
        "frame",
        "frametitle",
        "framesubtitle",
        "maketitle",
        "titlepage",
        "tableofcontents",
        "label",
        "ref",
        "cite",
        "footnote",
        "caption",
        "includegraphics",
        "input",
        "include",
        "title",
        "subtitle",
        "author",
        "date",
        "institute",
        "note",
        "pause",
        "only",
        "uncover",
        "visible",
        "alt",
        "onslide",
        "textbf",
        "textit",
        "emph",
        "par",
        "newline",
        "documentclass",
        "usepackage",
        "newcommand",
        "renewcommand",
        "def",
        "newenvironment",
        "document",
        "appendix",
        "againframe",
        "url",
        "href",
        "index",
        "multicolumn",
        "tabularnewline",
        "printbibliography",
        "footnotemark",
        "footnotetext",
        "eqref",
        "pageref",
        "autoref",
        "cref",
        "lecture",
        "thebibliography",
        "bibitem",
        "columns",
        "column",
        "block",
        "hline",
        "usetheme",
        "space",
        "makeatletter",
        "textsuperscript",
        "textsubscript",
        "og",
        "fg",
        "textwidth",
        "linewidth",
        "thepage",
        "today",
        "and",
        "thanks",
        "@ifnextchar",
        "newtheorem",
        "mode",
        "AtBeginSection",
        "AtBeginSubsection",
        "insertsection",
        "alert",
        "large",
        "Large",
        "small",
        "footnotesize",
        "scriptsize",
        "tiny",
        "normalsize",
        "huge",
        "centering",
        "vspace",
        "hspace",
    ]
)

MATH_ENVIRONMENTS = frozenset(
    [
        "equation",
        "equation*",
        "align",
        "align*",
        "alignat",
        "alignat*",
        "flalign",
        "flalign*",
        "gather",
        "gather*",
        "multline",
        "multline*",
        "eqnarray",
        "eqnarray*",
        "displaymath",
        "math",
        "dmath",
        "dmath*",
        "xalignat",
        "IEEEeqnarray",
        "IEEEeqnarray*",
        "subequations@",
        "dgroup",
        "dgroup*",
        "darray",
    ]
)
ALIGNED = {
    "align": "aligned", "align*": "aligned", "alignat": "aligned", "alignat*": "aligned",
    "flalign": "aligned", "flalign*": "aligned", "xalignat": "aligned", "eqnarray": "aligned",
    "eqnarray*": "aligned", "IEEEeqnarray": "aligned", "IEEEeqnarray*": "aligned",
    "gather": "gathered", "gather*": "gathered", "multline": "gathered", "multline*": "gathered",
    "dgroup": "gathered", "dgroup*": "gathered",
}  # fmt: skip

LISTS = {
    "itemize": "bullet", "enumerate": "number", "description": "term", "compactitem": "bullet",
    "compactenum": "number", "compactdesc": "term", "itemize*": "bullet", "enumerate*": "number",
    "description*": "term", "inparaenum": "number", "asparaenum": "number", "list": "bullet",
    "trivlist": "bullet", "tasks": "number", "parts": "number", "subparts": "number",
    "questions": "number", "choices": "bullet", "checkboxes": "bullet", "oneparchoices": "bullet",
    "inparaitem": "bullet", "asparaitem": "bullet", "dinglist": "bullet", "thebibliography": "bullet",
}  # fmt: skip
TABLES = frozenset(
    [
        "tabular",
        "tabular*",
        "tabularx",
        "tabulary",
        "longtable",
        "supertabular",
        "xltabular",
        "tabu",
        "longtabu",
        "array",
        "NiceTabular",
        "tblr",
        "longtblr",
        "tabularray",
        "ltablex",
        "tabbing",
    ]
)
DRAWINGS = frozenset(
    [
        "tikzpicture",
        "pgfpicture",
        "picture",
        "pspicture",
        "axis",
        "circuitikz",
        "forest",
        "tikzcd",
        "umlseqdiag",
        "scope",
        "semilogxaxis",
        "semilogyaxis",
        "loglogaxis",
        "gantt",
        "ganttchart",
        "bytefield",
        "psfrags",
        "asy",
        "mindmap",
        "algorithm2e@",
        "dot2tex",
        "xy",
        "displaymathx",
        "prooftree@",
        "qtree@",
    ]
)
FIGURES = frozenset(
    [
        "figure",
        "figure*",
        "subfigure",
        "wrapfigure",
        "SCfigure",
        "sidewaysfigure",
        "floatingfigure",
        "marginfigure",
    ]
)
TABLE_FLOATS = frozenset({"table", "table*", "wraptable", "sidewaystable", "subtable"})

# Environments that only arrange their content, and what follows their \begin.
ARRANGED: dict[str, str] = {
    "columns": "[", "column": "[{", "minipage": "[[[{", "center": "", "flushleft": "",
    "flushright": "", "multicols": "*{[", "multicols*": "{[", "overprint": "[", "overlayarea": "{{",
    "onlyenv": "", "uncoverenv": "", "visibleenv": "", "alertenv": "", "altenv": "{{{{",
    "small": "", "footnotesize": "", "scriptsize": "", "tiny": "", "large": "", "Large": "",
    "spacing": "{", "adjustwidth": "{{", "adjustwidth*": "{{", "textblock": "{[(", "textblock*": "{[(",
    "beamercolorbox": "[{", "landscape": "", "titlepage": "", "sloppypar": "", "appendices": "",
    "onehalfspace": "", "singlespace": "", "doublespace": "", "framed": "", "shaded": "",
    "leftbar": "", "boxedminipage": "[[[{", "adjustbox": "{", "varwidth": "{", "fullpage": "",
    "fullwidth": "", "subequations": "", "hyphenrules": "{", "otherlanguage": "{",
    "otherlanguage*": "{", "lrbox": "{", "turn": "{", "rotate": "{", "sideways": "",
    "threeparttable": "[", "tablenotes": "[", "NoHyper": "", "ttfamily": "", "huge": "", "LARGE": "",
    "titlingpage": "", "normalsize": "", "verse": "", "frame": "", "abstract": "", "document": "",
    "letter": "{", "animateinline": "[{", "tabbing": "", "samepage": "", "raggedright": "",
    "actionenv": "", "invisibleenv": "", "structureenv": "", "alltt": "", "semiverbatim": "",
    "quote": "", "quotation": "", "displayquote": "[", "refsection": "[",
}  # fmt: skip
