//! Characters that need care wherever text is shown: controls, direction marks, the invisible.

/// The name of a direction control.
#[must_use]
pub fn bidi_name(c: char) -> Option<&'static str> {
    Some(match c {
        '\u{202A}' => "LRE",
        '\u{202B}' => "RLE",
        '\u{202C}' => "PDF",
        '\u{202D}' => "LRO",
        '\u{202E}' => "RLO",
        '\u{2066}' => "LRI",
        '\u{2067}' => "RLI",
        '\u{2068}' => "FSI",
        '\u{2069}' => "PDI",
        '\u{200E}' => "LRM",
        '\u{200F}' => "RLM",
        '\u{061C}' => "ALM",
        _ => return None,
    })
}

/// The picture of a control character; tabs and line ends have none.
#[must_use]
pub fn control_picture(c: char) -> Option<char> {
    match c {
        '\t' | '\n' | '\r' => None,
        '\0'..='\x1F' => char::from_u32(0x2400 + c as u32),
        '\x7F' => Some('\u{2421}'),
        // C1 controls have no pictures, and a terminal would obey them.
        '\u{80}'..='\u{9F}' => Some('\u{FFFD}'),
        _ => None,
    }
}

/// True for characters that take no room and carry no meaning a reader could see.
#[must_use]
pub fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{00AD}' | '\u{200B}' | '\u{2060}'..='\u{2064}' | '\u{FEFF}'
        | '\u{E0000}'..='\u{E007F}' | '\u{E0100}'..='\u{E01EF}')
}

/// True for characters that are drawn on the one before them.
///
/// The blocks of nonspacing marks, not every one of Unicode's 2,000: what is missing here only
/// misses the cut.
#[must_use]
pub fn is_mark(c: char) -> bool {
    if c < '\u{300}' {
        return false;
    }
    matches!(c,
        '\u{0300}'..='\u{036F}' | '\u{0483}'..='\u{0489}' | '\u{0591}'..='\u{05BD}'
        | '\u{05BF}' | '\u{05C1}' | '\u{05C2}' | '\u{05C4}' | '\u{05C5}' | '\u{05C7}'
        | '\u{0610}'..='\u{061A}' | '\u{064B}'..='\u{065F}' | '\u{0670}'
        | '\u{06D6}'..='\u{06DC}' | '\u{06DF}'..='\u{06E4}' | '\u{06E7}' | '\u{06E8}'
        | '\u{06EA}'..='\u{06ED}' | '\u{0711}' | '\u{0730}'..='\u{074A}'
        | '\u{07A6}'..='\u{07B0}' | '\u{07EB}'..='\u{07F3}' | '\u{0816}'..='\u{082D}'
        | '\u{0859}'..='\u{085B}' | '\u{08CA}'..='\u{08E1}' | '\u{08E3}'..='\u{0903}'
        | '\u{093A}'..='\u{093C}' | '\u{093E}'..='\u{094F}' | '\u{0951}'..='\u{0957}'
        | '\u{0E31}' | '\u{0E34}'..='\u{0E3A}' | '\u{0E47}'..='\u{0E4E}' | '\u{0EB1}'
        | '\u{0EB4}'..='\u{0EBC}' | '\u{0EC8}'..='\u{0ECE}' | '\u{0F71}'..='\u{0F84}'
        | '\u{1AB0}'..='\u{1ACE}' | '\u{1DC0}'..='\u{1DFF}' | '\u{20D0}'..='\u{20F0}'
        | '\u{302A}'..='\u{302F}' | '\u{3099}' | '\u{309A}' | '\u{A66F}'..='\u{A67D}'
        | '\u{FB1E}' | '\u{FE00}'..='\u{FE0F}' | '\u{FE20}'..='\u{FE2F}'
        | '\u{1D165}'..='\u{1D169}' | '\u{1D16D}'..='\u{1D172}' | '\u{1E000}'..='\u{1E02A}')
}
